// A host that loads its 3D part as a plug-in with local scope, like QEMU.

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(void) = NULL;

    if (plugin)
        *(void **)&run = dlsym(plugin, "run");
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return run();
}
