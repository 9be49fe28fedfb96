//! Reads the ELF file of a code object.

use std::collections::HashMap;
use std::sync::Arc;

use object::read::elf::{ElfFile64, ProgramHeader};
use object::{FileFlags, Object, ObjectSection, ObjectSymbol, RelocationFlags, SymbolKind, elf};

use crate::decode::Program;
use crate::disassembly::decoded;
use crate::fault::LoadError;
use crate::metadata::{About, kernels};

const FLAGS_MASK: u32 = 0xff;
const FLAGS_GFX1151: u32 = 0x4a;
/// An address in the image, plus where it was loaded.
const RELATIVE64: u32 = 13;

/// What the 64 bytes of a kernel's descriptor say.
#[derive(Clone, Debug, Default)]
pub struct Descriptor {
    /// Address of the first instruction.
    pub entry: u64,
    pub code_bytes: u64,
    /// Scalar registers that the launch fills, before the ids.
    pub user_scalars: u8,
    /// Which of the workgroup ids x, y, z follow.
    pub ids: [bool; 3],
    pub dispatch_scalar: Option<u8>,
    pub argument_scalar: Option<u8>,
    pub flushes: bool,
    pub clamps_nan: bool,
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: String,
    pub descriptor: Descriptor,
    pub about: About,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    pub address: u64,
    pub bytes: u64,
}

/// A code object, ready to be put somewhere.
pub struct CodeObject {
    pub program: Arc<Program>,
    pub kernels: HashMap<String, Arc<Kernel>>,
    pub globals: HashMap<String, Global>,
    /// All segments at their addresses.
    pub image: Vec<u8>,
    /// Places of 64 bits to which the address of the image is added.
    pub relocations: Vec<(usize, u64)>,
    pub is_read_only: bool,
}

fn malformed(what: impl ToString) -> LoadError {
    LoadError::Malformed { what: what.to_string() }
}

impl CodeObject {
    /// # Errors
    /// [`LoadError`]: not a code object, one for another chip, or one that uses what is not modelled.
    pub fn load(bytes: &[u8]) -> Result<CodeObject, LoadError> {
        let file: ElfFile64<'_> = ElfFile64::parse(bytes).map_err(|_| LoadError::NotAnObject)?;
        if file.elf_header().e_machine.get(file.endian()) != elf::EM_AMDGPU {
            return Err(LoadError::NotAnObject);
        }
        let FileFlags::Elf { e_flags, .. } = file.flags() else { return Err(LoadError::NotAnObject) };
        if e_flags & FLAGS_MASK != FLAGS_GFX1151 {
            return Err(LoadError::OtherChip { flags: e_flags });
        }
        let image = image(&file, bytes)?;
        let note = file.section_by_name(".note").ok_or_else(|| malformed("no note"))?;
        let about = kernels(note.data().map_err(malformed)?).ok_or_else(|| malformed("the note"))?;
        let mut loaded = CodeObject {
            program: decoded(bytes)?,
            kernels: HashMap::new(),
            globals: HashMap::new(),
            relocations: relocations(&file)?,
            image,
            is_read_only: true,
        };
        loaded.add_symbols(&file, about)?;
        Ok(loaded)
    }

    fn add_symbols(&mut self, file: &ElfFile64<'_>, about: HashMap<String, About>) -> Result<(), LoadError> {
        for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition()) {
            let Ok(name) = symbol.name() else { continue };
            if symbol.kind() == SymbolKind::Data && !name.ends_with(".kd") && !name.starts_with("__hip_cuid")
            {
                let global = Global { address: symbol.address(), bytes: symbol.size() };
                self.globals.insert(name.to_owned(), global);
                self.is_read_only = false;
            }
        }
        for (name, about) in about {
            let code = file.dynamic_symbols().find(|symbol| symbol.name() == Ok(&name));
            let record = file.dynamic_symbols().find(|symbol| symbol.name() == Ok(&format!("{name}.kd")));
            let record = record.ok_or_else(|| malformed(format!("{name} has no descriptor")))?;
            let descriptor = descriptor(&self.image, record.address(), &name)?;
            let code_bytes = code.map_or(0, |symbol| symbol.size());
            let descriptor = Descriptor { code_bytes, ..descriptor };
            self.kernels.insert(name.clone(), Arc::new(Kernel { name, descriptor, about }));
        }
        Ok(())
    }
}

fn image(file: &ElfFile64<'_>, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let endian = file.endian();
    let loaded = || file.elf_program_headers().iter().filter(|header| header.p_type(endian) == elf::PT_LOAD);
    let end = loaded().map(|header| header.p_vaddr(endian) + header.p_memsz(endian)).max().unwrap_or(0);
    let mut image = vec![0; usize::try_from(end).map_err(malformed)?];
    for header in loaded() {
        let data = header.data(endian, bytes).map_err(|()| malformed("a segment"))?;
        let start = header.p_vaddr(endian) as usize;
        image.get_mut(start..start + data.len()).ok_or_else(|| malformed("a segment"))?.copy_from_slice(data);
    }
    Ok(image)
}

fn relocations(file: &ElfFile64<'_>) -> Result<Vec<(usize, u64)>, LoadError> {
    let Some(all) = file.dynamic_relocations() else { return Ok(Vec::new()) };
    all.map(|(at, relocation)| match relocation.flags() {
        RelocationFlags::Elf { r_type: RELATIVE64 } => Ok((at as usize, relocation.addend() as u64)),
        RelocationFlags::Elf { r_type } => Err(LoadError::Relocation { kind: r_type }),
        _ => Err(malformed("a relocation")),
    })
    .collect()
}

fn descriptor(image: &[u8], address: u64, kernel: &str) -> Result<Descriptor, LoadError> {
    let start = usize::try_from(address).map_err(malformed)?;
    let record = image.get(start..start + 64).ok_or_else(|| malformed("a descriptor"))?;
    let number = |at: usize, bytes: usize| {
        record[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let (first, second, properties) = (number(48, 4), number(52, 4), number(56, 2));
    let mode = |what| Err(LoadError::Mode { kernel: kernel.to_owned(), what });
    if first >> 12 & 15 != 0 {
        return mode("rounding other than to nearest");
    }
    if first >> 18 & 3 != 3 {
        return mode("subnormal halves and doubles become zero");
    }
    if properties >> 10 & 1 == 0 {
        return mode("waves of 64");
    }
    let mut next = 0;
    // In the order in which they are put: buffer of scratch, dispatch packet, queue, arguments.
    let mut place = |bit: u32, scalars: u8| {
        let present = properties >> bit & 1 == 1;
        let at = next;
        next += if present { scalars } else { 0 };
        present.then_some(at)
    };
    let (_, dispatch_scalar, _) = (place(0, 4), place(1, 2), place(2, 2));
    Ok(Descriptor {
        entry: address.wrapping_add(number(16, 8)),
        code_bytes: 0,
        user_scalars: (second >> 1 & 31) as u8,
        ids: [7, 8, 9].map(|bit| second >> bit & 1 == 1),
        dispatch_scalar,
        argument_scalar: place(3, 2),
        flushes: first >> 16 & 3 != 3,
        clamps_nan: first >> 21 & 1 == 1,
    })
}
