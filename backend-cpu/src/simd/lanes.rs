//! The operations on vector registers that kernels are written in.

use super::level::Task;

/// One level's registers: `WIDTH` lanes of 32 bits, as integers `I` or floats `F`.
///
/// A type of this trait is named only by [`super::level::Simd::run`], after the instructions were found, and by tasks
/// that run inside it. This is what makes the operations safe to call.
pub(crate) trait Lanes: Copy + 'static {
    /// Lanes of a register, and rows of a panel.
    const WIDTH: usize;
    /// What [`Lanes::dot_signed`] wants added to its weights. Its result is then too large by `BIAS` times the sum of
    /// the activations, which [`Lanes::start`] takes off beforehand.
    const BIAS: i32;
    /// Columns of a tile of two groups of rows, so that its sums stay in registers: 8-bit products, 8-bit products with
    /// two scales in a block, and float products.
    const TILE_COLUMNS: [usize; 3];

    type I: Copy;
    type F: Copy;

    /// Runs a task compiled for these registers, in a function of its own.
    fn enter<T: Task>(task: T) -> T::Output;

    /// Asks for a cache line soon to be read. Any address will do.
    fn prefetch(at: *const u8);

    fn splat_i(value: i32) -> Self::I;
    fn and(a: Self::I, b: Self::I) -> Self::I;
    fn or(a: Self::I, b: Self::I) -> Self::I;
    fn xor(a: Self::I, b: Self::I) -> Self::I;
    fn add_i(a: Self::I, b: Self::I) -> Self::I;
    /// Adds byte by byte, without carry.
    fn add_bytes(a: Self::I, b: Self::I) -> Self::I;
    fn shift_right(a: Self::I, bits: u32) -> Self::I;
    /// Copies the sign bit into the bits that become free.
    fn shift_right_signed(a: Self::I, bits: u32) -> Self::I;
    fn shift_left(a: Self::I, bits: u32) -> Self::I;
    fn mul_i(a: Self::I, b: Self::I) -> Self::I;
    fn max_i(a: Self::I, b: Self::I) -> Self::I;
    fn largest_i(a: Self::I) -> i32;
    /// The levels that bytes below 16 number.
    fn lookup(levels: &[i8; 16], numbers: Self::I) -> Self::I;

    /// What a sum of [`Lanes::dot_signed`] starts from, given the `−128·Σa` of its activations.
    fn start(minus_128_sums: i32) -> Self::I;
    /// In each lane adds four products of signed weights (plus `BIAS`) and signed activations.
    fn dot_signed(sum: Self::I, weights: Self::I, activations: Self::I) -> Self::I;
    /// In each lane adds four products of weights in 0..=127 and signed activations.
    fn dot_unsigned(sum: Self::I, weights: Self::I, activations: Self::I) -> Self::I;

    fn to_float(a: Self::I) -> Self::F;
    /// Rounds to the nearest integer, ties to even.
    fn round(a: Self::F) -> Self::I;
    fn as_float(a: Self::I) -> Self::F;
    fn as_bits(a: Self::F) -> Self::I;
    /// The low half of each lane, read as an f16.
    fn low_half(a: Self::I) -> Self::F;

    fn splat(value: f32) -> Self::F;
    fn add(a: Self::F, b: Self::F) -> Self::F;
    fn sub(a: Self::F, b: Self::F) -> Self::F;
    fn mul(a: Self::F, b: Self::F) -> Self::F;
    fn div(a: Self::F, b: Self::F) -> Self::F;
    /// `a·b + c`; rounded once where the level has such an instruction.
    fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The larger; `b` if either is not a number.
    fn max(a: Self::F, b: Self::F) -> Self::F;
    /// The smaller; `b` if either is not a number.
    fn min(a: Self::F, b: Self::F) -> Self::F;
    /// `yes` where `a > b`, else `no`.
    fn select_greater(a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F;
    fn sum(a: Self::F) -> f32;
    /// The sums of four registers.
    fn sum_four(a: [Self::F; 4]) -> [f32; 4];
    fn largest(a: Self::F) -> f32;

    /// # Safety
    /// `WIDTH` floats must be readable.
    unsafe fn load(from: *const f32) -> Self::F;
    /// # Safety
    /// `WIDTH` floats must be writable.
    unsafe fn store(to: *mut f32, value: Self::F);
    /// The first `count` lanes; zero in the others.
    /// # Safety
    /// `count <= WIDTH` floats must be readable.
    unsafe fn load_some(from: *const f32, count: usize) -> Self::F;
    /// # Safety
    /// `count <= WIDTH` floats must be writable.
    unsafe fn store_some(to: *mut f32, value: Self::F, count: usize);
    /// # Safety
    /// `WIDTH` halves must be readable.
    unsafe fn load_half(from: *const u16) -> Self::F;
    /// # Safety
    /// `WIDTH` halves must be writable.
    unsafe fn store_half(to: *mut u16, value: Self::F);
    /// A signed byte in each lane.
    /// # Safety
    /// `WIDTH` bytes must be readable.
    unsafe fn load_bytes(from: *const i8) -> Self::I;
    /// The low byte of each lane.
    /// # Safety
    /// `WIDTH` bytes must be writable.
    unsafe fn store_bytes(to: *mut i8, value: Self::I);
    /// The sum of sixteen bytes.
    /// # Safety
    /// Sixteen bytes must be readable.
    unsafe fn sum_sixteen(from: *const i8) -> i32;
    /// Four bytes in every lane.
    /// # Safety
    /// Four bytes must be readable.
    unsafe fn splat_four(from: *const i8) -> Self::I;

    /// The words of a table at the places that lanes hold.
    /// # Safety
    /// Each place must lie in the table.
    unsafe fn pick(table: *const u32, places: Self::I) -> Self::I;

    /// Four bytes of each row, `stride` bytes apart.
    /// # Safety
    /// Four bytes at `rows + row·stride` must be readable for each of `WIDTH` rows.
    unsafe fn gather(rows: *const u8, stride: usize) -> Self::I;
    /// Sixteen bytes of each row: register `i` holds bytes `4i..4i + 4` of every row.
    /// # Safety
    /// Sixteen bytes at `rows + row·stride` must be readable for each of `WIDTH` rows.
    unsafe fn gather_sixteen(rows: *const u8, stride: usize) -> [Self::I; 4];
    /// As [`Lanes::gather_sixteen`], with 32 bytes of each row.
    /// # Safety
    /// 32 bytes at `rows + row·stride` must be readable for each of `WIDTH` rows.
    #[inline(always)]
    unsafe fn gather_thirty_two(rows: *const u8, stride: usize) -> [[Self::I; 4]; 2] {
        // SAFETY: as the caller says.
        unsafe { [Self::gather_sixteen(rows, stride), Self::gather_sixteen(rows.add(16), stride)] }
    }
}
