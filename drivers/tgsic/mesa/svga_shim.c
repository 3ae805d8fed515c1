// Replaces the kernel driver of VMware's virtual GPU, using the same framework of Mesa as the shims of other hardware
// (src/drm-shim). It reports the capabilities of a host with DirectX 10.1, allocates memory and ids, and drops all
// commands. With SVGA_VGPU10=0 the driver treats it as an older host (DirectX 9).

#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drm-shim/drm_shim.h"
#include "svga3d_devcaps.h"
#include "svga3d_shaderdefs.h"
#include "svga3d_types.h"
#include "svga_reg.h"
#include "vmwgfx_drm.h"

bool drm_shim_driver_prefers_first_render_node = true;

static int noop(int fd, unsigned long request, void *arg)
{
    return 0;
}

static int get_param(int fd, unsigned long request, void *arg)
{
    struct drm_vmw_getparam_arg *param = arg;
    switch (param->param) {
    case DRM_VMW_PARAM_3D:
    case DRM_VMW_PARAM_DX:
    case DRM_VMW_PARAM_HW_CAPS2:
    case DRM_VMW_PARAM_SM4_1:
        param->value = 1;
        return 0;
    case DRM_VMW_PARAM_HW_CAPS:
        param->value = SVGA_CAP_GBOBJECTS | SVGA_CAP_DX;
        return 0;
    case DRM_VMW_PARAM_FIFO_HW_VERSION:
        param->value = SVGA3D_HWVERSION_CURRENT;
        return 0;
    case DRM_VMW_PARAM_3D_CAPS_SIZE:
        param->value = SVGA3D_DEVCAP_MAX * sizeof(uint32_t);
        return 0;
    case DRM_VMW_PARAM_MAX_MOB_MEMORY:
        param->value = 1 << 30;
        return 0;
    case DRM_VMW_PARAM_MAX_MOB_SIZE:
        param->value = 1 << 28;
        return 0;
    case DRM_VMW_PARAM_DEVICE_ID:
        param->value = 0x0405;
        return 0;
    default:
        param->value = 0;
        return 0;
    }
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t capability(unsigned index)
{
    switch (index) {
    case SVGA3D_DEVCAP_VERTEX_SHADER_VERSION:
        return SVGA3DVSVERSION_30;
    case SVGA3D_DEVCAP_FRAGMENT_SHADER_VERSION:
        return SVGA3DPSVERSION_30;
    case SVGA3D_DEVCAP_MAX_TEXTURE_WIDTH:
    case SVGA3D_DEVCAP_MAX_TEXTURE_HEIGHT:
        return 8192;
    case SVGA3D_DEVCAP_MAX_VOLUME_EXTENT:
        return 2048;
    case SVGA3D_DEVCAP_MAX_TEXTURE_ANISOTROPY:
        return 16;
    case SVGA3D_DEVCAP_DX_MAX_CONSTANT_BUFFERS:
        return 14;
    case SVGA3D_DEVCAP_MAX_VERTEX_SHADER_INSTRUCTIONS:
    case SVGA3D_DEVCAP_MAX_FRAGMENT_SHADER_INSTRUCTIONS:
        return 65535;
    case SVGA3D_DEVCAP_MAX_VERTEX_SHADER_TEMPS:
    case SVGA3D_DEVCAP_MAX_FRAGMENT_SHADER_TEMPS:
        return SVGA3D_TEMPREG_MAX;
    case SVGA3D_DEVCAP_MAX_POINT_SIZE:
    case SVGA3D_DEVCAP_MAX_LINE_WIDTH:
    case SVGA3D_DEVCAP_MAX_AA_LINE_WIDTH:
        return float_bits(8);
    case SVGA3D_DEVCAP_MULTISAMPLE_2X:
    case SVGA3D_DEVCAP_MULTISAMPLE_4X:
        return 0;
    }
    // Formats support everything; in this case, a bit excludes a feature.
    if (index >= SVGA3D_DEVCAP_SURFACEFMT_X8R8G8B8 && index <= SVGA3D_DEVCAP_SURFACEFMT_ARGB_S23E8)
        return ~(uint32_t)SVGA3DFORMAT_OP_NOALPHABLEND;
    if (index >= SVGA3D_DEVCAP_DXFMT_X8R8G8B8 && index <= SVGA3D_DEVCAP_DXFMT_BC5_UNORM)
        return ~0u;
    return 1;
}

static int get_3d_cap(int fd, unsigned long request, void *arg)
{
    struct drm_vmw_get_3d_cap_arg *caps = arg;
    uint32_t *values = (uint32_t *)(uintptr_t)caps->buffer;
    for (unsigned i = 0; i < SVGA3D_DEVCAP_MAX && i < caps->max_size / sizeof *values; i++)
        values[i] = capability(i);
    return 0;
}

// Untouched memory is not allocated.
static uint32_t allocate(int fd, size_t size, uint64_t *offset)
{
    struct shim_fd *shim_fd = drm_shim_fd_lookup(fd);
    struct shim_bo *bo = calloc(1, sizeof *bo);
    if (drm_shim_bo_init(bo, (size + 4095) & ~(size_t)4095))
        return 0;
    uint32_t handle = drm_shim_bo_get_handle(shim_fd, bo);
    *offset = drm_shim_bo_get_mmap_offset(shim_fd, bo);
    return handle;
}

static int alloc_bo(int fd, unsigned long request, void *arg)
{
    union drm_vmw_alloc_bo_arg *alloc = arg;
    size_t size = alloc->req.size;
    memset(&alloc->rep, 0, sizeof alloc->rep);
    uint64_t offset = 0;
    alloc->rep.handle = allocate(fd, size, &offset);
    alloc->rep.map_handle = offset;
    return alloc->rep.handle ? 0 : -ENOMEM;
}

// Contexts, surfaces and shaders.
static uint32_t new_id(void)
{
    static uint32_t last;
    return ++last;
}

static int create_context(int fd, unsigned long request, void *arg)
{
    ((struct drm_vmw_context_arg *)arg)->cid = new_id();
    return 0;
}

static int create_extended_context(int fd, unsigned long request, void *arg)
{
    ((union drm_vmw_extended_context_arg *)arg)->rep.cid = new_id();
    return 0;
}

static int create_shader(int fd, unsigned long request, void *arg)
{
    ((struct drm_vmw_shader_create_arg *)arg)->shader_handle = new_id();
    return 0;
}

static int create_surface(int fd, unsigned long request, void *arg)
{
    union drm_vmw_gb_surface_create_ext_arg *create = arg;
    const struct drm_vmw_gb_surface_create_req req = create->req.base;
    // No format needs more per pixel, and the smaller levels together need no more than the first one.
    size_t size = (size_t)req.base_size.width * req.base_size.height * req.base_size.depth * 32;
    size *= req.array_size ? req.array_size : 6;
    memset(&create->rep, 0, sizeof create->rep);
    create->rep.handle = new_id();
    create->rep.backup_size = create->rep.buffer_size = size;
    create->rep.buffer_handle = req.buffer_handle;
    if (req.buffer_handle == (uint32_t)-1) {
        uint64_t offset = 0;
        create->rep.buffer_handle = allocate(fd, size, &offset);
        create->rep.buffer_map_handle = offset;
    }
    return create->rep.buffer_handle ? 0 : -ENOMEM;
}

static int fence_signaled(int fd, unsigned long request, void *arg)
{
    ((struct drm_vmw_fence_signaled_arg *)arg)->signaled = 1;
    return 0;
}

static ioctl_fn_t ioctls[] = {
    [DRM_VMW_GET_PARAM] = get_param,
    [DRM_VMW_ALLOC_BO] = alloc_bo,
    [DRM_VMW_HANDLE_CLOSE] = noop,
    [DRM_VMW_CREATE_CONTEXT] = create_context,
    [DRM_VMW_UNREF_CONTEXT] = noop,
    [DRM_VMW_UNREF_SURFACE] = noop,
    // The driver reports an error in creating a fence, and assumes that the host has finished.
    [DRM_VMW_EXECBUF] = noop,
    [DRM_VMW_GET_3D_CAP] = get_3d_cap,
    [DRM_VMW_FENCE_WAIT] = noop,
    [DRM_VMW_FENCE_SIGNALED] = fence_signaled,
    [DRM_VMW_FENCE_UNREF] = noop,
    [DRM_VMW_CREATE_SHADER] = create_shader,
    [DRM_VMW_UNREF_SHADER] = noop,
    [DRM_VMW_SYNCCPU] = noop,
    [DRM_VMW_CREATE_EXTENDED_CONTEXT] = create_extended_context,
    [DRM_VMW_GB_SURFACE_CREATE_EXT] = create_surface,
    [DRM_VMW_MSG] = noop,
};

void drm_shim_driver_init(void)
{
    shim_device.bus_type = DRM_BUS_PCI;
    shim_device.driver_name = "vmwgfx";
    shim_device.driver_ioctls = ioctls;
    shim_device.driver_ioctl_count = sizeof ioctls / sizeof *ioctls;
    // From 2.17 on, the driver logs with an ioctl; before, with an instruction that only the host has.
    shim_device.version_major = 2;
    shim_device.version_minor = 17;
    drm_shim_override_file("DRIVER=vmwgfx\nPCI_CLASS=30000\nPCI_ID=15AD:0405\nPCI_SUBSYS_ID=15AD:0405\n"
                           "PCI_SLOT_NAME=0000:01:00.0\n"
                           "MODALIAS=pci:v000015ADd00000405sv000015ADsd00000405bc03sc00i00\n",
                           "/sys/dev/char/%d:%d/device/uevent", DRM_MAJOR, render_node_minor);
    drm_shim_override_file("0x0\n", "/sys/dev/char/%d:%d/device/revision", DRM_MAJOR, render_node_minor);
    static const char *const ids[][2] = {
        { "vendor", "0x15ad" }, { "device", "0x0405" },
        { "subsystem_vendor", "0x15ad" }, { "subsystem_device", "0x0405" },
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        drm_shim_override_file(ids[i][1], "/sys/dev/char/%d:%d/device/%s", DRM_MAJOR, render_node_minor, ids[i][0]);
        drm_shim_override_file(ids[i][1], "/sys/devices/pci0000:00/0000:01:00.0/%s", ids[i][0]);
    }
}
