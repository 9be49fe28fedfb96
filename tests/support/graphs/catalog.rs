//! Every fixture of a size that can be run in a test.

use super::{
    Fixture, cached, casts, delta, gates, masks, odd, projections, segmented, sharing, small, states,
};

/// The delta net layer in all its forms.
pub fn layers() -> Vec<Fixture> {
    let mut all: Vec<Fixture> = delta::variants(delta::SMALL)
        .into_iter()
        .map(|(name, layer)| layer.fixture(format!("layer, {name}")))
        .collect();
    all.extend(segmented::variants().into_iter().map(|(name, layer)| layer.fixture(name)));
    all
}

/// All of them, large token counts aside.
pub fn all() -> Vec<Fixture> {
    let mut all: Vec<Fixture> = small::firing().into_iter().map(|(_, _, fixture)| fixture).collect();
    all.extend(small::four_extents());
    all.extend(small::experts());
    all.extend(cached::all());
    all.extend(projections::all());
    all.extend(layers().into_iter().filter(|f| !f.name.contains("T 51")));
    all.extend(gates::all().into_iter().map(|(_, fixture)| fixture));
    all.extend([casts::Cast::IntoSelf, casts::Cast::Plain].map(casts::fixture));
    all.extend(masks::all());
    all.extend(states::all());
    all.extend(sharing::all());
    all.extend([odd::changing_projection(), odd::weight_of_its_own_sum(), odd::two_norms_of_one_sum()]);
    all.extend([odd::product_over_its_gate(), odd::square_of_a_gate(), odd::narrow_heads()]);
    all
}
