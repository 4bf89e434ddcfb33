//! Sets of CPUs by number.

use std::fmt;
use std::ops::RangeInclusive;
use thiserror::Error;

/// CPUs of a node. Numbers beyond [`CpuSet::LARGEST`] are no CPUs.
#[derive(Clone, Debug, Default)]
pub struct CpuSet {
    words: Vec<u64>,
}

/// A text that is no set of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no set of CPUs; write it like 0-3,8")]
pub struct NoCpuSet(pub String);

impl CpuSet {
    /// The largest number that a CPU may have.
    pub const LARGEST: u32 = 65_535;

    /// Reads `0-3,8`; an empty text is the empty set.
    ///
    /// # Errors
    /// A text that is no list of numbers and ranges, or names a number beyond [`CpuSet::LARGEST`].
    pub fn parse(text: &str) -> Result<Self, NoCpuSet> {
        let mut set = Self::default();
        if text.is_empty() {
            return Ok(set);
        }
        for part in text.split(',') {
            let range = range(part).ok_or_else(|| NoCpuSet(text.chars().take(64).collect()))?;
            range.for_each(|cpu| set.insert(cpu));
        }
        Ok(set)
    }

    /// Adds a CPU; a number beyond [`CpuSet::LARGEST`] is passed over.
    pub fn insert(&mut self, cpu: u32) {
        if cpu > Self::LARGEST {
            return;
        }
        let word = cpu as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu % 64);
    }

    /// Whether the CPU is in the set.
    #[must_use]
    pub fn contains(&self, cpu: u32) -> bool {
        let word = self.words.get(cpu as usize / 64);
        word.is_some_and(|word| word & (1 << (cpu % 64)) != 0)
    }

    /// Number of CPUs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// All CPUs, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let bits = (0..64).filter(move |bit| word & (1 << bit) != 0);
            bits.map(move |bit| index as u32 * 64 + bit)
        })
    }

    /// Adds all CPUs of another set.
    pub fn add(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    /// Takes all CPUs of another set out.
    pub fn take(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= !theirs;
        }
    }

    /// What is left without another set.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut left = self.clone();
        left.take(other);
        left
    }

    /// The CPUs for which `keep` holds.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(u32) -> bool) -> Self {
        self.iter().filter(|cpu| keep(*cpu)).collect()
    }
}

fn range(part: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str| {
        let number: u32 = text.parse().ok()?;
        (number <= CpuSet::LARGEST).then_some(number)
    };
    let (first, last) = match part.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(part)?, number(part)?),
    };
    (first <= last).then_some(first..=last)
}

impl PartialEq for CpuSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for CpuSet {}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut set = Self::default();
        cpus.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, cpu) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{cpu}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_as_kubernetes_writes_them() {
        let rows = [
            ("", Some("")),
            ("0", Some("0")),
            ("0-3,8", Some("0,1,2,3,8")),
            ("64,63,64", Some("63,64")),
            ("5-5", Some("5")),
            ("3-1", None),
            ("1,,2", None),
            ("a", None),
            ("-1", None),
            (" 1", None),
            ("0-70000", None),
            ("99999999999", None),
        ];
        for (text, expected) in rows {
            let found = CpuSet::parse(text).ok().map(|set| set.to_string());
            assert_eq!(found.as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn sets_of_different_length_compare_and_combine() {
        let set = |text| CpuSet::parse(text).unwrap();
        let mut few = set("1,2");
        few.add(&set("130"));
        assert_eq!(
            (few.len(), few.contains(130), few.contains(999)),
            (3, true, false)
        );
        assert_eq!(few.without(&set("130")), set("1,2"));
        assert_eq!(set("1").without(&set("1")), CpuSet::default());
        assert_eq!(few.filtered(|cpu| cpu > 1), set("2,130"));
    }
}
