//! Views: other layouts on a tensor's storage, at the tensor's version.

use super::{GraphBuilder, GraphError, Layout, TensorId};

impl GraphBuilder {
    /// A view of any shape and byte strides; `offset` counts bytes from the source's first element.
    ///
    /// # Errors
    /// The view leaves the storage.
    pub fn view(
        &mut self,
        of: TensorId,
        shape: [u64; 4],
        strides: [u64; 4],
        offset: u64,
    ) -> Result<TensorId, GraphError> {
        let source = self.at(of)?.layout;
        let start = source.offset.checked_add(offset).ok_or(GraphError::OutsideStorage {
            shape,
            strides,
            offset,
            bytes: 0,
        })?;
        self.alias(of, Layout { dtype: source.dtype, shape, strides, offset: start })
    }

    /// The same elements under another shape. Dimensions of the source that lie packed against each other may merge or
    /// split; a gap stays where it is.
    ///
    /// # Errors
    /// The number of elements differs, or a gap would have to move: cast first.
    pub fn reshape(&mut self, of: TensorId, shape: [u64; 4]) -> Result<TensorId, GraphError> {
        let source = self.at(of)?.layout;
        let refused = GraphError::Reshape { from: source.shape, to: shape };
        let layout = source.reshaped(shape).ok_or(refused)?;
        self.alias(of, layout)
    }

    /// Dimensions in another order: result dimension `d` is source dimension `order[d]`.
    ///
    /// # Errors
    /// The order is not a permutation.
    pub fn permute(&mut self, of: TensorId, order: [usize; 4]) -> Result<TensorId, GraphError> {
        let source = self.at(of)?.layout;
        let mut layout = source;
        let mut seen = [false; 4];
        for (dim, from) in order.iter().copied().enumerate() {
            if from > 3 || std::mem::replace(&mut seen[from], true) {
                return Err(GraphError::Dimension { dim: from });
            }
            layout.shape[dim] = source.shape[from];
            layout.strides[dim] = source.strides[from];
        }
        self.alias(of, layout)
    }

    /// `count` indices of one dimension, from `start`.
    ///
    /// # Errors
    /// The slice exceeds the dimension, or cuts a quantised block.
    pub fn slice(
        &mut self,
        of: TensorId,
        dim: usize,
        start: u64,
        count: u64,
    ) -> Result<TensorId, GraphError> {
        let source = self.at(of)?.layout;
        if dim > 3 {
            return Err(GraphError::Dimension { dim });
        }
        let extent = source.shape[dim];
        let block = if dim == 0 { source.dtype.block_values() } else { 1 };
        let whole = start.is_multiple_of(block) && count.is_multiple_of(block);
        if !whole || start.checked_add(count).is_none_or(|end| end > extent) {
            return Err(GraphError::Slice { dim, start, count, extent });
        }
        let mut layout = source;
        layout.shape[dim] = count;
        layout.offset += start / block * source.strides[dim];
        self.alias(of, layout)
    }
}

impl Layout {
    /// The same elements under another shape, if strides can express it: packed neighbours may merge or split.
    pub fn reshaped(&self, shape: [u64; 4]) -> Option<Layout> {
        let source = self;
        let elements = shape.iter().try_fold(1u64, |n, e| n.checked_mul(*e))?;
        if elements != source.elements() {
            return None;
        }
        let block = source.dtype.block_values();
        if elements == 0 || !shape[0].is_multiple_of(block) {
            return Layout::packed(source.dtype, shape).map(|l| Layout { offset: source.offset, ..l });
        }
        // Source dimensions as (extent in blocks, stride), merged where packed.
        let mut pieces: Vec<(u64, u64)> = Vec::new();
        for dim in 0..4 {
            let extent = if dim == 0 { source.shape[0] / block } else { source.shape[dim] };
            match pieces.last_mut() {
                _ if extent == 1 => {}
                Some((count, stride)) if *stride * *count == source.strides[dim] => *count *= extent,
                _ => pieces.push((extent, source.strides[dim])),
            }
        }
        let mut layout = Layout { shape, ..*source };
        let mut pieces = pieces.into_iter();
        let (mut left, mut stride) = pieces.next().unwrap_or((1, source.dtype.block_bytes()));
        for dim in 0..4 {
            let extent = if dim == 0 { shape[0] / block } else { shape[dim] };
            if left == 1 && extent > 1 {
                (left, stride) = pieces.next()?;
            }
            layout.strides[dim] = stride;
            if !left.is_multiple_of(extent) {
                return None;
            }
            left /= extent;
            stride *= extent;
        }
        Some(layout)
    }
}
