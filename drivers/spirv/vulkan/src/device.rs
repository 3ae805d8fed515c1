//! The device: one per process, opened on first use.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use ash::vk;

use crate::code::DeviceProperties;
use crate::dispatch::Session;

/// The required installation.
const HINT: &str = "to run SPIR-V, install a Vulkan driver, such as lavapipe (apt-get install mesa-vulkan-drivers \
                    libvulkan1)";

/// Extensions that are enabled if available.
const EXTENSIONS: [&CStr; 3] =
    [ash::ext::robustness2::NAME, ash::ext::shader_atomic_float::NAME, ash::khr::shader_clock::NAME];

/// The device.
pub struct Device {
    /// Properties needed to generate code and inputs for it.
    pub properties: DeviceProperties,
    /// Its functions.
    pub handle: ash::Device,
    /// The queue that is used.
    pub queue: vk::Queue,
    /// The family of the queue.
    pub family: u32,
    /// Whether the queue draws.
    pub can_draw: bool,
    /// A type of memory that is visible to the host.
    pub memory_type: u32,
    /// Alignment of buffers within memory.
    pub alignment: u64,
    /// Whether null descriptors are allowed; they have size 0.
    pub has_null_descriptors: bool,
    /// The state shared by consecutive runs.
    pub session: Mutex<Session>,
    is_lost: AtomicBool,
    // They must outlive the device.
    _instance: ash::Instance,
    _entry: ash::Entry,
}

impl Device {
    /// Returns the device.
    ///
    /// # Errors
    /// There is no device, or it was abandoned.
    pub fn get() -> Result<&'static Device, String> {
        static DEVICE: OnceLock<Result<Device, String>> = OnceLock::new();
        let device = DEVICE.get_or_init(Device::new).as_ref().map_err(Clone::clone)?;
        if device.is_lost.load(Ordering::Relaxed) {
            return Err("the Vulkan device did not finish an earlier run and was abandoned".to_owned());
        }
        Ok(device)
    }

    /// Abandons the device. It may still be busy, so none of its objects is destroyed.
    pub fn give_up(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    /// Returns whether the device was abandoned.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    fn new() -> Result<Device, String> {
        // SAFETY: loading a library runs its initialisers. Those of the system's Vulkan loader are trusted.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| format!("no Vulkan: {error}; {HINT}"))?;
        // SAFETY: the entry is alive; no pointers are passed.
        let version = unsafe { entry.try_enumerate_instance_version() };
        let version = version.ok().flatten().unwrap_or(vk::API_VERSION_1_0).min(vk::API_VERSION_1_3);
        if version < vk::API_VERSION_1_1 {
            return Err(format!("Vulkan 1.0 only; {HINT}"));
        }
        let application = vk::ApplicationInfo::default().application_name(c"tgsic").api_version(version);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structures live until after the call.
        let instance = unsafe { entry.create_instance(&info, None) }
            .map_err(|error| format!("no Vulkan instance: {error}; {HINT}"))?;
        // SAFETY: the instance is alive.
        let devices = unsafe { instance.enumerate_physical_devices() }
            .map_err(|error| format!("no Vulkan devices: {error}; {HINT}"))?;
        let (physical, properties) = choose(&instance, &devices)?;
        open(entry, instance, physical, &properties, version)
    }
}

/// Returns the name of a device.
fn name(properties: &vk::PhysicalDeviceProperties) -> String {
    properties.device_name_as_c_str().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Chooses the device: the one named by the variable, else a CPU device, else the first one.
fn choose(
    instance: &ash::Instance,
    devices: &[vk::PhysicalDevice],
) -> Result<(vk::PhysicalDevice, vk::PhysicalDeviceProperties), String> {
    // SAFETY: the devices belong to the instance.
    let with_properties = devices.iter().map(|&d| (d, unsafe { instance.get_physical_device_properties(d) }));
    let all: Vec<_> = with_properties.filter(|(_, p)| p.api_version >= vk::API_VERSION_1_1).collect();
    if let Ok(wanted) = std::env::var("TGSIC_VULKAN_DEVICE") {
        return all.iter().copied().find(|(_, properties)| name(properties).contains(&wanted)).ok_or_else(|| {
            let names: Vec<String> = all.iter().map(|(_, properties)| name(properties)).collect();
            format!("no Vulkan device is named `{wanted}`; available: {}", names.join(", "))
        });
    }
    let processor = all.iter().find(|(_, properties)| properties.device_type == vk::PhysicalDeviceType::CPU);
    processor.or(all.first()).copied().ok_or_else(|| format!("no Vulkan device; {HINT}"))
}

/// Opens a device with all features that it has.
fn open(
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    properties: &vk::PhysicalDeviceProperties,
    version: u32,
) -> Result<Device, String> {
    let version = version.min(properties.api_version);
    // SAFETY: the device belongs to the instance, here and below.
    let extensions = unsafe { instance.enumerate_device_extension_properties(physical) }.unwrap_or_default();
    let has = |name: &CStr| extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name));
    let names: Vec<*const std::ffi::c_char> =
        EXTENSIONS.iter().filter(|name| has(name)).map(|name| name.as_ptr()).collect();

    let mut vulkan11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
    let mut atomic_float = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
    let mut clock = vk::PhysicalDeviceShaderClockFeaturesKHR::default();
    // The structures of the features, as a chain: first filled by the device, then passed back unchanged. Each link is
    // set here, so that no structure is in two chains.
    let mut links: Vec<(*mut c_void, *mut *mut c_void)> = Vec::new();
    if version >= vk::API_VERSION_1_2 {
        links.push(((&raw mut vulkan11).cast(), &raw mut vulkan11.p_next));
        links.push(((&raw mut vulkan12).cast(), &raw mut vulkan12.p_next));
    }
    if version >= vk::API_VERSION_1_3 {
        links.push(((&raw mut vulkan13).cast(), &raw mut vulkan13.p_next));
    }
    if has(EXTENSIONS[0]) {
        links.push(((&raw mut robustness).cast(), &raw mut robustness.p_next));
    }
    if has(EXTENSIONS[1]) {
        links.push(((&raw mut atomic_float).cast(), &raw mut atomic_float.p_next));
    }
    if has(EXTENSIONS[2]) {
        links.push(((&raw mut clock).cast(), &raw mut clock.p_next));
    }
    let mut next = ptr::null_mut();
    for &(structure, link) in links.iter().rev() {
        // SAFETY: the link is a field of a structure above, which is alive and not borrowed.
        unsafe { link.write(next) };
        next = structure;
    }
    let mut features = vk::PhysicalDeviceFeatures2 { p_next: next, ..Default::default() };
    // SAFETY: the chain consists of the structures above, each once.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };

    // SAFETY: as above.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let find = |flags| families.iter().position(|family| family.queue_flags.contains(flags));
    let drawing = find(vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS);
    let family = drawing.or(find(vk::QueueFlags::COMPUTE)).ok_or("the Vulkan device has no compute queue")? as u32;
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    info.p_next = ptr::from_ref(&features).cast();
    // SAFETY: the structures and the names live until after the call; the device supports all enabled features.
    let handle = unsafe { instance.create_device(physical, &info, None) }
        .map_err(|error| format!("the Vulkan device cannot be opened: {error}"))?;
    // SAFETY: the family and its first queue were requested above.
    let queue = unsafe { handle.get_device_queue(family, 0) };

    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let types = memory.memory_types_as_slice();
    let cached = wanted | vk::MemoryPropertyFlags::HOST_CACHED;
    let memory_type = types
        .iter()
        .position(|ty| ty.property_flags.contains(cached))
        .or_else(|| types.iter().position(|ty| ty.property_flags.contains(wanted)))
        .ok_or("the Vulkan device has no host-visible memory")? as u32;

    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut float_controls = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup);
    if version >= vk::API_VERSION_1_2 {
        all = all.push_next(&mut float_controls);
    }
    // SAFETY: the chain consists of the structures above.
    unsafe { instance.get_physical_device_properties2(physical, &mut all) };
    let limits = &properties.limits;
    let session = Mutex::new(Session::new(&handle, family)?);
    let version = properties.driver_version;
    Ok(Device {
        properties: DeviceProperties {
            name: format!("{} (driver {version:#x})", name(properties)),
            subgroup_size: subgroup.subgroup_size.max(4),
            max_invocations: limits.max_compute_work_group_invocations.min(limits.max_compute_work_group_size[0]),
            max_uniform_bytes: limits.max_uniform_buffer_range.into(),
            keeps_special: float_controls.shader_signed_zero_inf_nan_preserve_float32 != 0,
            // Code specifies the handling of 32-bit denormals separately.
            keeps_denormals: float_controls.shader_denorm_preserve_float32 != 0
                && float_controls.denorm_behavior_independence != vk::ShaderFloatControlsIndependence::NONE,
        },
        queue,
        family,
        can_draw: drawing.is_some(),
        memory_type,
        alignment: limits
            .min_uniform_buffer_offset_alignment
            .max(limits.min_storage_buffer_offset_alignment)
            .max(limits.non_coherent_atom_size)
            .max(16),
        has_null_descriptors: robustness.null_descriptor != 0,
        session,
        is_lost: AtomicBool::new(false),
        handle,
        _instance: instance,
        _entry: entry,
    })
}
