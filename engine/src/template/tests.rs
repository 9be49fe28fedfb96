//! Renderings against Jinja2's own, and templates that mean harm.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{ChatTemplate, Message, RenderOptions, TemplateError};

const AGENT: &str = include_str!("tests/agent.jinja");
const BLOCKS: &str = include_str!("tests/blocks.jinja");
/// The template of the default model, as its file carries it.
const TALES: &str = "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + \
                     '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}\
                     {%- endif %}";

fn prompt() -> RenderOptions {
    RenderOptions { add_generation_prompt: true, ..RenderOptions::default() }
}

fn question(text: &str) -> [Message; 1] {
    [Message::new("user", text)]
}

/// Renders a template without variables.
fn rendered(source: &str) -> Result<String, TemplateError> {
    ChatTemplate::new(Some(source), "<s>", "</s>")?.render(&question("hello"), &prompt())
}

#[test]
fn conversations_give_what_jinja2_gives() {
    let stored: Value = serde_json::from_str(include_str!("tests/conversation.json")).unwrap();
    let cases = stored["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 14);
    for case in cases {
        let source = if case["template"] == "agent.jinja" { AGENT } else { BLOCKS };
        let template = ChatTemplate::new(Some(source), "<s>", "</s>").unwrap();
        let messages: Vec<Message> = serde_json::from_value(case["messages"].clone()).unwrap();
        let options = RenderOptions {
            add_generation_prompt: case["add_generation_prompt"].as_bool().unwrap(),
            variables: case["variables"].as_object().unwrap().clone(),
            now: Some(UNIX_EPOCH + Duration::from_secs(1_796_132_700)),
        };
        let expected = match case["refused"].as_str() {
            Some(message) => Err(TemplateError::Refused { message: message.to_owned() }),
            None => Ok(case["rendered"].as_str().unwrap().to_owned()),
        };
        assert_eq!(template.render(&messages, &options), expected, "{}", case["name"]);
    }
}

#[test]
fn the_default_models_template_is_chatml_as_is_the_fallback() {
    let own = ChatTemplate::new(Some(TALES), "<|endoftext|>", "<|im_end|>").unwrap();
    let fallback = ChatTemplate::new(None, "", "").unwrap();
    assert!(fallback.is_fallback() && !own.is_fallback());
    let messages = question("Tell me a story about a shy dragon.");
    let expected = "<|im_start|>user\nTell me a story about a shy dragon.<|im_end|>\n<|im_start|>assistant\n";
    assert_eq!(own.render(&messages, &prompt()).unwrap(), expected);
    assert_eq!(fallback.render(&messages, &prompt()).unwrap(), expected);
    let closed = "<|im_start|>user\nTell me a story about a shy dragon.<|im_end|>\n";
    assert_eq!(own.render(&messages, &RenderOptions::default()).unwrap(), closed);
    assert_eq!(fallback.render(&messages, &RenderOptions::default()).unwrap(), closed);
}

#[test]
fn template_text_in_a_message_stays_text() {
    let nasty = "{{ 7 * 7 }} {% for x in y %} <b> & \"quotes\"";
    let text = ChatTemplate::new(None, "", "").unwrap().render(&question(nasty), &prompt()).unwrap();
    assert!(text.contains(nasty));
}

#[test]
fn generation_marks_and_loop_controls_are_understood() {
    let source = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}";
    assert_eq!(rendered(source).unwrap(), "hello");
    let source = "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% elif i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}";
    assert_eq!(rendered(source).unwrap(), "0134");
}

#[test]
fn json_follows_its_arguments() {
    let options = RenderOptions {
        variables: json!({"x": {"b": [1, {"é": "\u{1}😀/"}], "a": []}}).as_object().unwrap().clone(),
        ..prompt()
    };
    let cases = [
        ("{{ x|tojson }}", r#"{"b": [1, {"é": "\u0001😀/"}], "a": []}"#),
        ("{{ x|tojson(sort_keys=true) }}", r#"{"a": [], "b": [1, {"é": "\u0001😀/"}]}"#),
        ("{{ x.b[1]|tojson(ensure_ascii=true) }}", r#"{"\u00e9": "\u0001\ud83d\ude00/"}"#),
        ("{{ x|tojson(separators=(',', ':')) }}", r#"{"b":[1,{"é":"\u0001😀/"}],"a":[]}"#),
        ("{{ x.b|tojson(indent=1) }}", "[\n 1,\n {\n  \"é\": \"\\u0001😀/\"\n }\n]"),
    ];
    for (source, expected) in cases {
        let template = ChatTemplate::new(Some(source), "", "").unwrap();
        assert_eq!(template.render(&question(""), &options).unwrap(), expected);
    }
    assert!(matches!(rendered("{{ nothing|tojson }}"), Err(TemplateError::Render { .. })));
    assert!(matches!(rendered("{{ 1|tojson(sideways=true) }}"), Err(TemplateError::Render { .. })));
}

#[test]
fn errors_say_where() {
    let error = ChatTemplate::new(Some("a\n{% if %}"), "", "").err().unwrap();
    assert!(matches!(error, TemplateError::Syntax { line: 2, .. }), "{error}");
    let error = rendered("a\n\n{{ messages[0].tool.name }}").unwrap_err();
    assert!(matches!(error, TemplateError::Render { line: 3, .. }), "{error}");
    assert!(matches!(rendered("{{ no_function() }}"), Err(TemplateError::Render { line: 1, .. })));
    let long = " ".repeat((1 << 17) + 1);
    assert!(matches!(ChatTemplate::new(Some(&long), "", ""), Err(TemplateError::TooLong { .. })));
}

#[test]
fn templates_that_mean_harm_end_in_an_error() {
    let sources = [
        "{% for i in range(1000000000) %}{{ i }}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 'x' * 100000000000 }}",
        "{% set ns = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='aa') %}{% for i in range(64) %}{% set ns.x = ns.x.replace('a', 'aaaaaaaa') %}{% endfor %}",
        "{% set ns = namespace(x='aa') %}{% for i in range(64) %}{% set ns.x = ns.x|replace('a', 'aaaaaaaa') %}{% endfor %}",
        "{% set ns = namespace(x='a') %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x]|tojson %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{% macro f(n) %}{% for i in range(99) %}{{ f(n + 1) }}{% endfor %}{% endmacro %}{{ f(0) }}",
        "{% include 'chat' %}",
        "{% include '/etc/passwd' %}",
        "{% extends 'chat' %}",
        "{% import 'os' as os %}{{ os.system('true') }}",
        "{{ ''.__class__.__mro__ }}{{ messages.__init__.__globals__ }}",
        "{{ [1]|tojson(indent=99999999999) }}",
        "{{ '%99999999999d' | format(1) }}",
        "{{ 'x'.center(99999999999) }}",
        "{{ 'a'|indent(99999999999, true) }}",
        "{{ range(0, 99999999999)|list }}",
        "{{ 9 ** 9 ** 9 ** 9 }}",
        "{{ [[1] * 99999999999] }}",
        "{{ lipsum(99999) }}",
        "{{ strftime_now('%') }}{{ strftime_now('%Y' * 100000000) }}",
    ];
    for source in sources {
        let start = Instant::now();
        let outcome = rendered(source);
        let elapsed = start.elapsed();
        println!("{elapsed:?} {:?} {source}", outcome.as_ref().map(String::len));
        assert!(outcome.is_err(), "{source}");
        assert!(elapsed < Duration::from_secs(20), "{source} took {elapsed:?}");
    }
}

#[test]
fn lazy_lists_of_lists_run_out_of_time_once() {
    let sources = [
        "{% set ns = namespace(x=[1,2,3,4]) %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(4000) %}{% set ns.x = ns.x[0:][0:][0:] %}{% endfor %}",
    ];
    for source in sources {
        let mut template = ChatTemplate::new(Some(source), "", "").unwrap();
        template.deadline = Duration::from_millis(200);
        let start = Instant::now();
        for _ in 0..100 {
            let outcome = template.render(&question(""), &prompt());
            assert!(matches!(outcome, Err(TemplateError::TimedOut { .. })), "{outcome:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn long_chains_and_deep_nesting_do_not_exhaust_the_stack() {
    let chains = [
        ("{{ ", "(", "1 }}"),
        ("{{ ", "[", " }}"),
        ("{{ ", "-", "1 }}"),
        ("{{ ", "not ", "x }}"),
        ("{{ x", ".a", " }}"),
        ("{{ x", "[0]", " }}"),
        ("{{ x", "()", " }}"),
        ("{{ 1", "|abs", " }}"),
        ("{{ 1", "+1", " }}"),
        ("{{ x", "+x", " }}"),
        ("{{ x", "~x", " }}"),
        ("{{ 1", "**1", " }}"),
        ("{{ x", " and x", " }}"),
        ("{{ 1", " if x else 1", " }}"),
        ("{{ 1", " is odd", " }}"),
        ("{% if x %}", "{%elif x%}", "{% endif %}"),
        ("", "{% if true %}", ""),
        ("", "{{ 1 }}", ""),
    ];
    for (before, link, after) in chains {
        for count in [100, 2_000, (16 << 10) / link.len()] {
            // A text or an error are both well: what counts is that there is an answer.
            let start = Instant::now();
            let outcome = rendered(&format!("{before}{}{after}", link.repeat(count)));
            println!("{:?} {count} times {link}", start.elapsed());
            match outcome {
                Ok(_) | Err(TemplateError::Syntax { .. } | TemplateError::Render { .. }) => {}
                Err(TemplateError::TooMuchWork { .. } | TemplateError::TimedOut { .. }) => {}
                Err(error) => panic!("{count} times {link}: {error}"),
            }
        }
    }
}

#[test]
fn values_nested_by_a_loop_do_not_exhaust_the_stack() {
    let wraps = [
        "[[[[[[[[[[[[[[[[ns.x]]]]]]]]]]]]]]]]",
        "{'a': {'a': {'a': {'a': ns.x}}}}",
        "namespace(y=namespace(y=ns.x))",
        "(((ns.x,),),)",
        "ns.x|list|batch(1)",
    ];
    let uses =
        ["", "{{ ns.x }}", "{{ ns.x|tojson }}", "{{ ns.x == ns.y }}", "{{ ns.x|string }}", "{{ {ns.x: 1} }}"];
    for wrap in wraps {
        for end in uses {
            for rounds in [100, 1_500, 6_000, 20_000] {
                let source = format!(
                    "{{% set ns = namespace(x=[1], y=[1]) %}}{{% for i in range({rounds}) %}}{{% set ns.x = {wrap} %}}\
                     {{% endfor %}}{end}"
                );
                let start = Instant::now();
                let outcome = rendered(&source);
                println!("{:?} {rounds} times {wrap}, then {end}", start.elapsed());
                match outcome {
                    Ok(_) | Err(TemplateError::Render { .. } | TemplateError::TooMuchWork { .. }) => {}
                    Err(error) => panic!("{rounds} times {wrap}, then {end}: {error}"),
                }
            }
        }
    }
}

#[test]
fn a_long_conversation_stays_within_its_budget() {
    let template = ChatTemplate::new(Some(AGENT), "", "").unwrap();
    let mut messages = Vec::new();
    for turn in 0..3000 {
        messages.push(Message::new("user", format!("Question {turn}: {}", "word ".repeat(100))));
        messages
            .push(Message::new("assistant", format!("<think>\nso\n</think>\n\n{}", "answer ".repeat(200))));
    }
    let start = Instant::now();
    let text = template.render(&messages, &prompt()).unwrap();
    println!("{} messages, {} bytes: {:?}", messages.len(), text.len(), start.elapsed());
    assert!(text.len() > 5_000_000);
}
