//! The GGUF reader and writer: what comes back, and what is said to damaged or hostile files.
mod damage;
mod faults;
mod quantize;
mod raw;
mod reads;
mod real;
mod shards;
mod synth;
