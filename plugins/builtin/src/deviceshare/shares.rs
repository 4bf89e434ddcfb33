//! Cards that a node's agent registered, and shares of them. Pure arithmetic.

use mco_model::extra::{CardNeeds, CardShare, HeldShare, RegisteredCard};
use mco_model::spec::Text;

/// What the agents of nodes call the kind of card that is asked for.
const KIND: &str = "NVIDIA";

/// The cards of a node, with what is taken of them.
#[derive(Clone, Debug, Default)]
pub struct Cards {
    cards: Vec<Card>,
}

#[derive(Clone, Debug)]
struct Card {
    registered: RegisteredCard,
    /// Shares taken.
    shares: u64,
    memory: i64,
    cores: i64,
}

/// Why a node's cards will not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// A container asks for more cards than there are.
    TooFewCards,
    /// Too few of them have enough left.
    NoneFits,
}

impl Cards {
    /// Cards of which nothing is taken.
    #[must_use]
    pub fn of(cards: &[RegisteredCard]) -> Self {
        let card = |registered: &RegisteredCard| Card {
            registered: registered.clone(),
            shares: 0,
            memory: 0,
            cores: 0,
        };
        Self {
            cards: cards.iter().map(card).collect(),
        }
    }

    /// Takes shares that a pod has; those of cards that are not there are passed over.
    pub fn take(&mut self, shares: &[HeldShare]) {
        for share in shares {
            let same = |card: &&mut Card| card.registered.uuid == share.uuid;
            for card in self.cards.iter_mut().filter(same) {
                card.shares = card.shares.saturating_add(1);
                card.memory = card.memory.saturating_add(share.memory);
                card.cores = card.cores.saturating_add(share.cores);
            }
        }
    }

    /// Shares for each container that asks for some, without taking them.
    ///
    /// # Errors
    /// Why the cards will not do.
    pub fn fit(&self, needs: &CardNeeds) -> Result<Vec<Vec<HeldShare>>, Short> {
        let mut left = self.clone();
        let mut all = Vec::with_capacity(needs.shares.len());
        for wanted in &needs.shares {
            let shares = left.fit_container(wanted, needs)?;
            left.take(&shares);
            all.push(shares);
        }
        Ok(all)
    }

    /// Looks at the last card first.
    fn fit_container(&self, wanted: &CardShare, needs: &CardNeeds) -> Result<Vec<HeldShare>, Short> {
        let number = usize::try_from(wanted.number).unwrap_or(0);
        if number > self.cards.len() {
            return Err(Short::TooFewCards);
        }
        let mut memory = wanted.memory;
        let mut shares = Vec::with_capacity(number);
        for card in self.cards.iter().rev() {
            if shares.len() == number {
                break;
            }
            if card.shares >= card.registered.shares {
                continue;
            }
            if memory == 0
                && let Some(percent) = wanted.percent
            {
                // As in Volcano 1.9: whole hundreds count, and what the first card makes of them goes for the others.
                memory = (card.registered.memory as i64).saturating_mul(percent / 100);
            }
            if card.has_left(memory, wanted.cores) && suits(&card.registered.kind, needs) {
                shares.push(HeldShare {
                    uuid: card.registered.uuid.clone(),
                    memory,
                    cores: wanted.cores,
                });
            }
        }
        if shares.len() < number {
            return Err(Short::NoneFits);
        }
        Ok(shares)
    }
}

impl Card {
    fn has_left(&self, memory: i64, cores: i64) -> bool {
        let all = i64::try_from(self.registered.memory).unwrap_or(i64::MAX);
        let alone = cores == 100;
        all.saturating_sub(self.memory) >= memory
            && 100 - self.cores >= cores
            && !(alone && self.shares > 0)
            && !(self.cores == 100 && cores == 0)
    }
}

/// The card is of a kind that the pod takes. Kinds to use are found anywhere in the card's own, in any case; so are kinds to
/// avoid, of which a single one does not count, as in Volcano 1.9.
fn suits(kind: &str, needs: &CardNeeds) -> bool {
    if !kind.contains(KIND) {
        return false;
    }
    let kind = kind.to_uppercase();
    let names = |list: &Text| list.split(',').any(|name| kind.contains(&name.to_uppercase()));
    match (&needs.use_kinds, &needs.avoid_kinds) {
        (Some(list), _) => names(list),
        (None, Some(list)) => !list.contains(',') || !names(list),
        (None, None) => true,
    }
}

/// Shares as annotations write them: `uuid,kind,memory,cores:`, containers parted by `;`.
#[must_use]
pub fn encode(containers: &[Vec<HeldShare>]) -> String {
    let share = |share: &HeldShare| format!("{},{KIND},{},{}:", share.uuid, share.memory, share.cores);
    let container = |shares: &Vec<HeldShare>| shares.iter().map(share).collect::<String>();
    containers.iter().map(container).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(uuid: &str, shares: u64, memory: u64, kind: &str) -> RegisteredCard {
        RegisteredCard {
            uuid: uuid.into(),
            shares,
            memory,
            kind: kind.into(),
        }
    }

    /// Cards a and b of 100, the first of which has two shares of 30 and 40 % taken.
    fn cards() -> Cards {
        let mut cards = Cards::of(&[card("a", 3, 100, "NVIDIA-A100"), card("b", 2, 100, "NVIDIA-T4")]);
        cards.take(&[held("a", 30, 40), held("a", 30, 40), held("elsewhere", 1, 1)]);
        cards
    }

    fn held(uuid: &str, memory: i64, cores: i64) -> HeldShare {
        HeldShare {
            uuid: uuid.into(),
            memory,
            cores,
        }
    }

    fn share(number: i64, memory: i64, percent: Option<i64>, cores: i64) -> CardShare {
        CardShare {
            number,
            memory,
            percent,
            cores,
        }
    }

    fn needs(shares: &[CardShare]) -> CardNeeds {
        CardNeeds {
            shares: shares.to_vec(),
            ..CardNeeds::default()
        }
    }

    #[test]
    fn containers_get_shares_of_cards_with_enough_left() {
        // Left: a has 40 memory, 20 % of its cores and one share; b has all.
        let rows: [(&str, Vec<CardShare>, Result<&str, Short>); 15] = [
            (
                "the last card first",
                vec![share(1, 10, None, 10)],
                Ok("b,NVIDIA,10,10:"),
            ),
            (
                "two",
                vec![share(2, 40, None, 20)],
                Ok("b,NVIDIA,40,20:a,NVIDIA,40,20:"),
            ),
            (
                "too much memory for the second",
                vec![share(2, 41, None, 0)],
                Err(Short::NoneFits),
            ),
            (
                "too many cores for the second",
                vec![share(2, 1, None, 21)],
                Err(Short::NoneFits),
            ),
            (
                "too many cards",
                vec![share(3, 1, None, 0)],
                Err(Short::TooFewCards),
            ),
            ("none", vec![share(0, 1, None, 0)], Ok("")),
            ("below zero is none", vec![share(-1, 1, None, 0)], Ok("")),
            (
                "two containers",
                vec![share(1, 60, None, 0), share(1, 40, None, 0)],
                Ok("b,NVIDIA,60,0:;b,NVIDIA,40,0:"),
            ),
            (
                "the second goes elsewhere",
                vec![share(1, 61, None, 0), share(1, 40, None, 0)],
                Ok("b,NVIDIA,61,0:;a,NVIDIA,40,0:"),
            ),
            (
                "no third share of b",
                vec![share(1, 1, None, 0); 3],
                Ok("b,NVIDIA,1,0:;b,NVIDIA,1,0:;a,NVIDIA,1,0:"),
            ),
            (
                "no share left at all",
                vec![share(1, 1, None, 0); 4],
                Err(Short::NoneFits),
            ),
            (
                "a whole card",
                vec![share(1, 0, Some(100), 0)],
                Ok("b,NVIDIA,100,0:"),
            ),
            (
                "half a card is nothing",
                vec![share(1, 0, Some(50), 0)],
                Ok("b,NVIDIA,0,0:"),
            ),
            (
                "all cores, alone",
                vec![share(2, 1, None, 100)],
                Err(Short::NoneFits),
            ),
            (
                "nothing beside all cores",
                vec![share(1, 1, None, 100), share(1, 1, None, 0)],
                Ok("b,NVIDIA,1,100:;a,NVIDIA,1,0:"),
            ),
        ];
        for (name, shares, expected) in rows {
            let found = cards().fit(&needs(&shares)).map(|shares| encode(&shares));
            assert_eq!(found, expected.map(str::to_owned), "{name}");
        }
    }

    #[test]
    fn what_the_first_card_makes_of_a_percentage_goes_for_the_others() {
        let cards = Cards::of(&[card("small", 1, 10, "NVIDIA"), card("large", 1, 100, "NVIDIA")]);
        let whole = |number| {
            cards
                .fit(&needs(&[share(number, 0, Some(100), 0)]))
                .map(|shares| encode(&shares))
        };
        assert_eq!(whole(1), Ok("large,NVIDIA,100,0:".to_owned()));
        assert_eq!(whole(2), Err(Short::NoneFits), "100 of the small one");
    }

    #[test]
    fn cards_are_of_a_kind_that_the_pod_takes() {
        // kinds to use, kinds to avoid; an A100, an MLU
        let rows = [
            (None, None, true),
            (Some("a100"), None, true),
            (Some("T4"), None, false),
            (Some("T4,A100"), None, true),
            (None, Some("A100"), true),
            (None, Some("T4"), true),
            (None, Some("A100,T4"), false),
            (None, Some("V100,T4"), true),
            (Some("A100"), Some("A100,T4"), true),
        ];
        for (use_kinds, avoid_kinds, takes) in rows {
            let needs = CardNeeds {
                use_kinds: use_kinds.map(Text::from),
                avoid_kinds: avoid_kinds.map(Text::from),
                ..CardNeeds::default()
            };
            assert_eq!(
                suits("NVIDIA-A100", &needs),
                takes,
                "{use_kinds:?} {avoid_kinds:?}"
            );
            assert!(!suits("MLU-370", &needs));
        }
    }
}
