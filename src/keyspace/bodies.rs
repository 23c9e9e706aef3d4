//! What is too large, or too unlike bytes, for an arena: logs and texts, beside the records that name them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::algorithm::Log;

/// One record's body.
pub(super) enum Body {
    Log {
        log: Log,
        window: u64,
    },
    Text(Box<[u8]>),
    /// In use by no record; the next such place, or the number of places.
    Free(u32),
}

/// A body in one line of a processor's memory, of which it just fills one: what asks for it waits for no second one.
#[repr(align(64))]
struct Line(Body);

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Line>() == 64);

/// The bodies of one segment. A record names its body by the place it is at.
#[derive(Default)]
pub(super) struct Bodies {
    places: Vec<Line>,
    /// The first free place; any other number when there is none.
    free: u32,
    used: u32,
}

impl Bodies {
    pub fn get(&self, place: u32) -> Option<&Body> {
        self.places.get(place as usize).map(|line| &line.0)
    }

    pub fn get_mut(&mut self, place: u32) -> Option<&mut Body> {
        self.places.get_mut(place as usize).map(|line| &mut line.0)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        self.places.iter_mut().map(|line| &mut line.0)
    }

    /// Keeps `body`; where it is.
    pub fn insert(&mut self, body: Body) -> u32 {
        self.used = self.used.saturating_add(1);
        let place = self.free;
        if let Some(Line(free)) = self.places.get_mut(place as usize)
            && let Body::Free(next) = *free
        {
            *free = body;
            self.free = next;
            return place;
        }
        let len = self.places.len();
        if len == self.places.capacity() {
            self.places.reserve_exact((len / 8).max(1));
        }
        self.places.push(Line(body));
        self.free = u32::MAX;
        u32::try_from(len).unwrap_or(u32::MAX)
    }

    /// Takes the body out of its place.
    pub fn remove(&mut self, place: u32) -> Option<Body> {
        let free = Body::Free(self.free);
        let taken = self.get_mut(place).filter(|body| !matches!(body, Body::Free(_)))?;
        let body = core::mem::replace(taken, free);
        self.free = place;
        self.used = self.used.saturating_sub(1);
        if self.used == 0 {
            *self = Self::default();
        }
        Some(body)
    }

    /// Whether most places are free.
    pub fn is_sparse(&self) -> bool {
        self.places.len() > (self.used as usize).saturating_mul(2).saturating_add(8)
    }

    /// Bytes held on to, those of logs left out.
    #[cfg(test)]
    pub fn footprint(&self) -> usize {
        let texts = self.places.iter().map(|line| if let Body::Text(bytes) = &line.0 { bytes.len() } else { 0 });
        self.places.capacity() * size_of::<Line>() + texts.sum::<usize>()
    }
}
