//! The smallest instance of a JSON schema, as a server with constrained sampling would at least give.

use serde_json::{Map, Value, json};

/// Deep enough for any judge's answer, and an end to a schema that refers to itself.
const DEPTH_MAX: usize = 16;

pub fn minimal(schema: &Value) -> Value {
    instance(schema, schema, DEPTH_MAX)
}

fn instance(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(fixed) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return fixed.clone();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) {
        return root.pointer(target).map_or(Value::Null, |found| instance(found, root, depth - 1));
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(choice).and_then(|all| all.get(0)) {
            return instance(first, root, depth - 1);
        }
    }
    // Gemini writes its types in capitals; a list of types lets any of them do.
    let kind = schema.get("type").map(|t| t.get(0).unwrap_or(t)).and_then(Value::as_str).unwrap_or("object");
    match kind.to_ascii_lowercase().as_str() {
        "string" => {
            let length = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(1000);
            json!(format!("{:x<1$}", "scripted", length as usize))
        }
        "integer" => json!(least(schema).ceil() as i64),
        "number" => json!(least(schema)),
        "boolean" => json!(false),
        "null" => Value::Null,
        "array" => {
            let length = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(100);
            let item = schema.get("items").unwrap_or(&Value::Null);
            (0..length).map(|_| instance(item, root, depth - 1)).collect()
        }
        _ => object(schema, root, depth),
    }
}

fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let mut made = Map::new();
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in names.filter_map(Value::as_str) {
        let property = schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
        made.insert(name.to_owned(), instance(property, root, depth - 1));
    }
    Value::Object(made)
}

fn least(schema: &Value) -> f64 {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    bound("minimum").or_else(|| bound("exclusiveMinimum").map(|b| b + 1.0)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, expected: Value) {
        assert_eq!(minimal(&schema), expected, "{schema}");
    }

    #[test]
    fn makes_the_smallest_instance() {
        check(json!({"type": "string"}), json!("scripted"));
        check(json!({"type": "integer", "minimum": 3}), json!(3));
        check(json!({"enum": ["A", "B"]}), json!("A"));
        check(json!({"type": ["null", "string"]}), Value::Null);
        check(json!({"type": "array", "minItems": 2, "items": {"type": "boolean"}}), json!([false, false]));
        check(
            json!({
                "type": "object",
                "required": ["winner", "why"],
                "properties": {
                    "winner": {"$ref": "#/$defs/side"}, "why": {"type": "string"}, "more": {"type": "string"},
                },
                "$defs": {"side": {"enum": ["A", "B"]}},
            }),
            json!({"winner": "A", "why": "scripted"}),
        );
    }

    #[test]
    fn a_schema_that_holds_itself_comes_to_an_end() {
        let schema = json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
        assert!(minimal(&schema).is_object());
    }
}
