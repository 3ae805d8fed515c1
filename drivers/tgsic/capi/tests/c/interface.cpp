// The header in C++, with the lifetime of objects in its types.

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include <tgsic.h>

struct Free {
    void operator()(tgsic_compiler *compiler) const { tgsic_compiler_free(compiler); }
    void operator()(tgsic_result *result) const { tgsic_result_free(result); }
    void operator()(tgsic_program *program) const { tgsic_program_free(program); }
    void operator()(tgsic_threads *threads) const { tgsic_threads_free(threads); }
};

using Compiler = std::unique_ptr<tgsic_compiler, Free>;
using Result = std::unique_ptr<tgsic_result, Free>;

static bool links(const Compiler &compiler, const std::string &vertex)
{
    const std::string fragment = "FRAG\nDCL OUT[0], COLOR\nIMM[0] FLT32 {1, 0, 0, 1}\nMOV OUT[0], IMM[0]\nEND\n";
    const std::array<tgsic_shader, 2> shaders{ { { vertex.data(), vertex.size() }, { fragment.data(), fragment.size() } } };
    std::array<tgsic_result *, 2> results{};
    const Result program(tgsic_link(compiler.get(), shaders.data(), shaders.size(), nullptr, results.data()));
    const Result first(results[0]), second(results[1]);
    return tgsic_result_status(program.get()) == TGSIC_OK && tgsic_result_data(second.get(), nullptr) != nullptr;
}

// Builds that cannot run shaders have no driver `cpu`.
static bool runs(const std::string &vertex)
{
    tgsic_options options{};
    options.size = sizeof options;
    options.driver = "cpu";
    const Compiler compiler(tgsic_compiler_new(&options, nullptr));
    if (!compiler)
        return true;
    const std::unique_ptr<tgsic_program, Free> program(
        tgsic_program_new(compiler.get(), vertex.data(), vertex.size(), nullptr));
    const std::unique_ptr<tgsic_threads, Free> threads(tgsic_threads_new(2, nullptr));
    const std::array<float, 8> inputs{ 1, 2, 3, 4, 5, 6, 7, 8 };
    std::array<float, 8> outputs{};
    tgsic_run run{};
    run.size = sizeof run;
    run.count = 2;
    run.num_inputs = run.num_outputs = 1;
    run.inputs = { inputs.data(), sizeof inputs };
    run.outputs = { outputs.data(), sizeof outputs };
    const Result result(tgsic_run_vertices(program.get(), &run, threads.get()));
    return tgsic_result_status(result.get()) == TGSIC_OK && inputs == outputs;
}

int main()
{
    tgsic_options options{};
    options.size = sizeof options;
    options.level = TGSIC_LEVEL_NO_GROWTH;
    Compiler compiler(tgsic_compiler_new(&options, nullptr));
    const std::string shader = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0]\nEND\n";
    Result result(tgsic_translate(compiler.get(), shader.data(), shader.size()));
    std::size_t size = 0;
    const auto *text = static_cast<const char *>(tgsic_result_data(result.get(), &size));
    if (tgsic_result_status(result.get()) != TGSIC_OK || std::string(text, size).find("MOV OUT[0], IN[0]") == std::string::npos) {
        std::fprintf(stderr, "%s\n", tgsic_result_message(result.get()));
        return 1;
    }
    if (!links(compiler, shader) || !runs(shader)) {
        std::fprintf(stderr, "linking or running\n");
        return 1;
    }
    return 0;
}
