//! A running sum of requests. Absent is not zero: a scalar is present in the sum exactly as long as one of the requests
//! has it, so that taking a request out undoes putting it in.

use crate::resource::{Resource, ScalarId};
use smallvec::SmallVec;

/// A sum and, for each of its scalars, how many requests have it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    total: Resource,
    present: SmallVec<[(ScalarId, u32); 2]>,
}

impl Sum {
    /// The sum.
    pub(crate) fn total(&self) -> &Resource {
        &self.total
    }

    /// Puts a request in.
    pub(crate) fn add(&mut self, request: &Resource) {
        self.total.add(request);
        for (id, _) in request.scalars() {
            match self.present.iter_mut().find(|entry| entry.0 == id) {
                Some((_, requests)) => *requests += 1,
                None => self.present.push((id, 1)),
            }
        }
    }

    /// Takes a request out that was put in before.
    pub(crate) fn sub(&mut self, request: &Resource) {
        self.total.sub_unchecked(request);
        for (id, _) in request.scalars() {
            let Some(at) = self.present.iter().position(|entry| entry.0 == id) else {
                continue;
            };
            self.present[at].1 -= 1;
            if self.present[at].1 == 0 {
                self.present.swap_remove(at);
                self.total.remove_scalar(id);
            }
        }
        if self.present.is_empty() {
            // Without any scalar there is no map of them either.
            self.total = Resource::new(self.total.milli_cpu, self.total.memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_is_present_as_long_as_a_request_has_it_be_it_at_zero() {
        let gpu = ScalarId::PODS;
        let none = Resource::new(1.0, 0.0);
        let zero = Resource::new(1.0, 0.0).with_scalar(gpu, 0.0);
        let two = Resource::new(1.0, 0.0).with_scalar(gpu, 2.0);
        let mut sum = Sum::default();
        let mut seen = Vec::new();
        for (put_in, request) in [
            (true, &none),
            (true, &two),
            (true, &zero),
            (false, &two),
            (false, &zero),
        ] {
            if put_in {
                sum.add(request)
            } else {
                sum.sub(request)
            }
            seen.push((sum.total().milli_cpu, sum.total().scalar(gpu)));
        }
        assert_eq!(
            seen,
            [
                (1.0, None),
                (2.0, Some(2.0)),
                (3.0, Some(2.0)),
                (2.0, Some(0.0)),
                (1.0, None)
            ]
        );
    }
}
