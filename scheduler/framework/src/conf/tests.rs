//! Reading of whole files, by kind. The recorded cases are run by the crate's `conf_cases` test.

use super::{ConfError, SchedulerConf, Switch, Value, read};

fn arguments_of(text: &str) -> Result<Vec<(String, Value)>, ConfError> {
    let file = format!("actions: allocate\ntiers:\n- plugins:\n  - name: nope\n    arguments:\n{text}");
    let conf = read(file.as_bytes())?;
    let arguments = &conf.tiers[0].plugins[0].arguments;
    Ok(arguments
        .iter()
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect())
}

fn value_of(text: &str) -> Result<Value, ConfError> {
    Ok(arguments_of(&format!("      v: {text}\n"))?.remove(0).1)
}

fn kind_of(text: &str) -> &'static str {
    read(text.as_bytes()).map_or_else(|error| error.kind(), |_| "none")
}

fn str(text: &str) -> Value {
    Value::Str(text.into())
}

#[test]
fn the_built_in_default_is_what_its_text_would_read_as() {
    let text = "
actions: \"enqueue, allocate, backfill\"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
";
    assert_eq!(read(text.as_bytes()), Ok(SchedulerConf::built_in()));
}

#[test]
fn whole_numbers_in_every_base() {
    for (text, number) in [
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("1_000_", 1000),
        ("010", 8),
        ("0o17", 15),
        ("-0O17", -15),
        ("0x_1F", 31),
        ("0b101", 5),
        ("0B101", 5),
        ("-0b101", -5),
        ("0b-101", -5),
        ("9223372036854775807", i64::MAX),
        ("-0x8000000000000000", i64::MIN),
        ("!!int \"7\"", 7),
    ] {
        assert_eq!(value_of(text), Ok(Value::Int(number)), "{text}");
    }
    assert_eq!(value_of("18446744073709551615"), Ok(Value::Uint(u64::MAX)));
    assert_eq!(value_of("0xFFFFFFFFFFFFFFFF"), Ok(Value::Uint(u64::MAX)));
}

#[test]
fn numbers_with_fraction() {
    for (text, number) in [
        (".5", 0.5),
        ("5.", 5.0),
        ("-.5e1", -5.0),
        ("1_0.5_0", 10.5),
        (".5_0", 0.5),
        ("1e3", 1000.0),
        ("08", 8.0),
        ("1e-400", 0.0),
        ("18446744073709551616", 18_446_744_073_709_551_616.0),
        ("-.Inf", f64::NEG_INFINITY),
        ("!!float 5", 5.0),
    ] {
        assert_eq!(value_of(text), Ok(Value::Float(number)), "{text}");
    }
    assert!(matches!(value_of(".NaN"), Ok(Value::Float(number)) if number.is_nan()));
}

#[test]
fn what_looks_like_a_number_but_is_a_text() {
    for text in [
        "_1", "0x", "0b2", "0o9", "1e", "e3", ".", "._5", ".5_", "1e400", "0x1p-2", "1:30", "1,000", "++5",
        "nan",
    ] {
        assert_eq!(value_of(text), Ok(str(text)), "{text}");
    }
}

#[test]
fn booleans_nulls_and_their_quoted_likes() {
    for text in [
        "y",
        "Y",
        "yes",
        "Yes",
        "YES",
        "on",
        "On",
        "ON",
        "true",
        "True",
        "TRUE",
        "!!bool yes",
    ] {
        assert_eq!(value_of(text), Ok(Value::Bool(true)), "{text}");
    }
    for text in [
        "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE",
    ] {
        assert_eq!(value_of(text), Ok(Value::Bool(false)), "{text}");
    }
    for text in ["", "~", "null", "Null", "NULL", "!!null \"\"", "&x"] {
        assert_eq!(value_of(text), Ok(Value::Null), "{text}");
    }
    for (text, plain) in [
        ("'yes'", "yes"),
        ("\"~\"", "~"),
        ("yEs", "yEs"),
        ("!!str 5", "5"),
        ("! 5", "5"),
        ("!x 5", "5"),
    ] {
        assert_eq!(value_of(text), Ok(str(plain)), "{text}");
    }
}

#[test]
fn tags_force_a_type_or_refuse_the_file() {
    for (text, plain) in [
        ("!!binary aGVsbG8=", "hello"),
        ("!!timestamp 2001-12-14", "2001-12-14"),
        ("!!timestamp 2001-1-1T2:3:4.5+01:00", "2001-1-1T2:3:4.5+01:00"),
        ("!!timestamp 2004-02-29 21:59:43.10", "2004-02-29 21:59:43.10"),
        ("2001-12-14", "2001-12-14"),
        ("!<tag:yaml.org,2002:str> 7", "7"),
    ] {
        assert_eq!(value_of(text), Ok(str(plain)), "{text}");
    }
    assert_eq!(
        value_of("!!binary a b=").map_err(|error| error.kind()),
        Err("YAML syntax")
    );
    for text in [
        "!!int 5.0",
        "!!int 0x",
        "!!bool 1",
        "!!null x",
        "!!float 18446744073709551615",
        "!!timestamp 2001-02-29",
        "!!timestamp 2001-12-14 21:59:43.10 -5",
        "!!timestamp 5",
    ] {
        assert_eq!(
            value_of(text).map_err(|error| error.kind()),
            Err("tag does not fit the value"),
            "{text}"
        );
    }
}

#[test]
fn collections_keep_their_order_and_the_last_of_a_repeated_key() {
    let map = Value::Map(vec![
        (str("b"), Value::Int(3)),
        (Value::Int(1), Value::Int(2)),
        (str("1"), Value::Null),
        (Value::Float(1.0), Value::List(vec![str("x")])),
    ]);
    assert_eq!(value_of("{b: 1, 1: 2, '1': , 1.0: [x], b: 3}"), Ok(map));
    assert_eq!(
        value_of("[[], {}]"),
        Ok(Value::List(vec![Value::List(vec![]), Value::Map(vec![])]))
    );
    for text in ["{[a]: 1}", "{{a: 1}: 1}"] {
        assert_eq!(
            value_of(text).map_err(|error| error.kind()),
            Err("a mapping or list as key"),
            "{text}"
        );
    }
}

#[test]
fn keys_that_are_no_texts_are_spelt_as_in_the_file() {
    let keys =
        arguments_of("      010: a\n      1.50: a\n      yes: a\n      ~: a\n      !!binary YQ==: a\n");
    let keys: Vec<_> = keys
        .expect("all of these can be keys")
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(keys, ["010", "1.50", "yes", "", "a"]);
}

#[test]
fn merge_keys_apply_where_they_stand() {
    for (text, value) in [
        ("{<<: {a: 1}, a: 2}", 2),
        ("{a: 2, <<: {a: 1}}", 1),
        ("{<<: [{a: 1}, {a: 2}]}", 1),
        ("{<<: {<<: {a: 1}}}", 1),
        ("{! <<: {a: 1}}", 1),
    ] {
        assert_eq!(
            value_of(text),
            Ok(Value::Map(vec![(str("a"), Value::Int(value))])),
            "{text}"
        );
    }
    assert_eq!(
        value_of("{'<<': 1}"),
        Ok(Value::Map(vec![(str("<<"), Value::Int(1))]))
    );
    for text in ["{<<: 1}", "{<<: [1]}", "{<<: [[]]}", "{<<: }"] {
        assert_eq!(
            value_of(text).map_err(|error| error.kind()),
            Err("merge key without a mapping"),
            "{text}"
        );
    }
}

#[test]
fn repeated_arguments_unite_but_null_drops_them() {
    let text = |last: &str| {
        format!(
            "actions: allocate\ntiers: [{{plugins: [{{arguments: {{a: 1, b: 1}}, arguments: {last}}}]}}]\n"
        )
    };
    let arguments = |last| read(text(last).as_bytes()).map(|conf| conf.tiers[0].plugins[0].arguments.clone());
    let united = arguments("{b: 2, c: 3}").expect("a mapping fits");
    assert_eq!(
        united.iter().collect::<Vec<_>>(),
        [
            ("a", &Value::Int(1)),
            ("b", &Value::Int(2)),
            ("c", &Value::Int(3))
        ]
    );
    assert!(!arguments("~").expect("null fits").is_given());
}

#[test]
fn a_switch_without_value_keeps_its_default_but_a_capital_null_switches_off() {
    for (value, on) in [
        ("", true),
        ("~", true),
        ("null", true),
        ("Null", false),
        ("NULL", false),
        ("off", false),
    ] {
        let text =
            format!("actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: {value}\n");
        let conf = read(text.as_bytes()).expect("all of these are values of a switch");
        assert_eq!(
            conf.tiers[0].plugins[0].enabled.is_on(Switch::JobOrder),
            on,
            "`{value}`"
        );
    }
}

#[test]
fn only_the_first_document_counts() {
    for text in [
        "actions: allocate\n---\nactions: nope\n",
        "actions: allocate\n...\n]junk\n",
        "%YAML 1.1\n---\nactions: allocate\n",
        "--- {actions: allocate}\n",
        "actions: allocate #\n# end",
    ] {
        assert_eq!(
            read(text.as_bytes()).map(|conf| conf.actions),
            Ok(vec!["allocate".into()]),
            "{text}"
        );
    }
}

#[test]
fn what_refuses_a_file_and_what_it_is_called() {
    let wrong = "a value of the wrong type";
    for (text, kind) in [
        ("", "unknown action"),
        ("---\n---\nactions: allocate\n", "unknown action"),
        ("actions: \"allocate,\"", "unknown action"),
        ("actions: [allocate]", wrong),
        ("allocate", wrong),
        ("actions #x: allocate", wrong),
        ("actions: allocate\ntiers: {}", wrong),
        ("actions: allocate\ntiers: ''", wrong),
        ("actions: allocate\nmetrics: {a: []}", wrong),
        ("actions: allocate\nconfigurations: [x]", wrong),
        ("actions: allocate\nx: *a", "alias to an unknown anchor"),
        (
            "actions: allocate\ntiers: &a [{plugins: [{arguments: {x: *a}}]}]",
            "anchor that contains itself",
        ),
        ("actions: allocate\n\ttiers: []", "YAML syntax"),
        ("actions: allocate\n-\ttiers: []", "YAML syntax"),
        ("%YAML 1.2\n---\nactions: allocate", "YAML syntax"),
        ("%FOO\n---\nactions: allocate", "YAML syntax"),
        ("actions: allocate\nx: !e!t 1", "YAML syntax"),
        ("actions: allocate\nx: \"\\q\"", "YAML syntax"),
        ("actions: allocate\nx: 'open", "YAML syntax"),
        ("actions: allocate\nx: \u{7f}", "forbidden character"),
    ] {
        assert_eq!(kind_of(text), kind, "{text}");
    }
}

#[test]
fn hierarchical_drf_beside_proportion_is_told_before_an_unknown_action() {
    let text = "\n\n actions: nope\n tiers:\n - plugins:\n   - {name: proportion}\n   - {name: drf, enableHierarchy: on}\n";
    // Only the first line loses its blanks to trimming, so the others stand too far right.
    assert_eq!(kind_of(text), "YAML syntax");
    let error = read(text.replace("\n ", "\n").as_bytes()).expect_err("the two do not go together");
    assert_eq!(
        error.to_string(),
        "line 5, column 3: tier 1 holds both drf with enableHierarchy and proportion; \
         switch one of them off there or move it to another tier"
    );
}

#[test]
fn all_values_of_the_wrong_type_are_told_at_once_with_their_places() {
    let text =
        "\nactions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: \"true\"\n  - drf\n";
    let error = read(text.as_bytes()).expect_err("two values do not fit");
    assert_eq!(
        error.to_string(),
        "line 6, column 21: `tiers[0].plugins[0].enableJobOrder` must be true or false, without quotes, not `true`; \
         line 7, column 5: `tiers[0].plugins[1]` must be a mapping with `name`, not `drf`; \
         give values of the types wanted"
    );
}

#[test]
fn aliases_may_not_blow_up_what_is_read() {
    let bomb = |indent: &str| {
        let mut text = format!("{indent}a: &a [x,x,x,x,x,x,x,x,x]\n");
        for pair in ["ab", "bc", "cd", "de", "ef", "fg", "gh"] {
            let (of, name) = (&pair[..1], &pair[1..]);
            text +=
                &format!("{indent}{name}: &{name} [*{of},*{of},*{of},*{of},*{of},*{of},*{of},*{of},*{of}]\n");
        }
        text
    };
    assert_eq!(
        kind_of(&(bomb("") + "actions: allocate\n")),
        "none",
        "nobody reads it"
    );
    assert_eq!(
        arguments_of(&bomb("      ")).map_err(|error| error.kind()),
        Err("too much aliasing")
    );
}

#[test]
fn nesting_is_bounded() {
    let ignored = |depth| {
        format!(
            "actions: allocate\nx: {}{}\n",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert_eq!(kind_of(&ignored(10_000)), "none");
    assert_eq!(kind_of(&ignored(10_001)), "nested too deeply");
    let read_by_a_plugin = |depth| value_of(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert!(read_by_a_plugin(400).is_ok());
    assert_eq!(
        read_by_a_plugin(600).map_err(|error| error.kind()),
        Err("nested too deeply")
    );
    let indented: String = (0..300)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    assert_eq!(kind_of(&format!("{indented}actions: allocate\n")), "none");
}

#[test]
fn the_first_entry_of_configurations_for_an_action_counts() {
    let text = "actions: allocate\nconfigurations:\n- {name: a, arguments: {k: 1}}\n- {name: a, arguments: {k: 2}}\n";
    let conf = read(text.as_bytes()).expect("this is a sound file");
    assert_eq!(
        conf.action_arguments("a")
            .and_then(|arguments| arguments.int("k")),
        Some(1)
    );
    assert_eq!(conf.action_arguments("b"), None);
}

#[test]
fn a_summary_spells_everything_out() {
    let text = "actions: allocate, backfill\nmetrics: {b: 1, a: \"\\\"\"}\ntiers:\n- plugins:\n  - name: x\n    \
                enableJobOrder: no\n    arguments: {b: [1.5, ~], a: {z: y, 1: '2'}}\n";
    let conf = read(text.as_bytes()).expect("this is a sound file");
    assert_eq!(
        conf.summary(),
        r#"{"actions":["allocate","backfill"],"configurations":[],"metrics":{"a":"\"","b":"1"},"tiers":[[{"arguments":{"a":["map",[[["int",1],["str","2"]],[["str","z"],["bool",true]]]],"b":["list",[["float","1.5"],["null"]]]},"name":"x","off":["enableJobOrder"],"unset":["enableHierarchy","EnabledClusterOrder"]}]]}"#
    );
}
