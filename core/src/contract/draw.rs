//! Draws legal layouts from a contract, and their just-illegal neighbours.
