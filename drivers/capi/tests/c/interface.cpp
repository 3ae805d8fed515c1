// The header in C++, with the lifetime of objects in its types.

#include <cstdio>
#include <memory>
#include <string>

#include <tgsic.h>

struct Free {
    void operator()(tgsic_compiler *compiler) const { tgsic_compiler_free(compiler); }
    void operator()(tgsic_result *result) const { tgsic_result_free(result); }
};

int main()
{
    tgsic_options options{};
    options.size = sizeof options;
    options.level = TGSIC_LEVEL_NO_GROWTH;
    std::unique_ptr<tgsic_compiler, Free> compiler(tgsic_compiler_new(&options, nullptr));
    const std::string shader = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0]\nEND\n";
    std::unique_ptr<tgsic_result, Free> result(tgsic_translate(compiler.get(), shader.data(), shader.size()));
    std::size_t size = 0;
    const auto *text = static_cast<const char *>(tgsic_result_data(result.get(), &size));
    if (tgsic_result_status(result.get()) != TGSIC_OK || std::string(text, size).find("MOV OUT[0], IN[0]") == std::string::npos) {
        std::fprintf(stderr, "%s\n", tgsic_result_message(result.get()));
        return 1;
    }
    return 0;
}
