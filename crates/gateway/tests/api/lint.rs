//! The .proto files keep to the rules that buf's standard set has, and say what everything means.

use gateway::openapi::comment;
use gateway::schema;
use prost_reflect::{FileDescriptor, MessageDescriptor};

/// Files of protocols that others define, which name things in their own way.
fn is_ours(file: &FileDescriptor) -> bool {
    !file.name().starts_with("google/") && !file.name().starts_with("grpc/")
}

fn is_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_pascal(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// `HostPowerState` as `HOST_POWER_STATE`.
fn screaming(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
    }
    text
}

#[test]
fn files_are_where_their_packages_say() {
    for file in schema::pool().files().filter(is_ours) {
        let (folder, name) = file.name().rsplit_once('/').unwrap();
        assert_eq!(folder.replace('/', "."), file.package_name(), "{}", file.name());
        assert!(is_snake(name.strip_suffix(".proto").unwrap()), "{}", file.name());
        assert!(file.package_name().ends_with(".v1"), "{} has no version", file.package_name());
    }
}

#[test]
fn everything_is_named_as_its_kind_of_thing_is() {
    for file in schema::pool().files().filter(is_ours) {
        for message in file.messages() {
            check_message(&message);
        }
        for of in file.enums() {
            assert!(is_pascal(of.name()), "{}", of.full_name());
            let prefix = format!("{}_", screaming(of.name()));
            for value in of.values() {
                assert!(value.name().starts_with(&prefix), "{} should begin with {prefix}", value.name());
                let is_zero = value.number() == 0;
                assert_eq!(is_zero, value.name() == format!("{prefix}UNSPECIFIED"), "{}", value.name());
                assert_ne!(comment(&file, value.path()), "", "{} has no comment", value.full_name());
            }
        }
        for service in file.services() {
            assert!(is_pascal(service.name()), "{}", service.full_name());
            assert_ne!(comment(&file, service.path()), "", "{}", service.full_name());
            for method in service.methods() {
                assert!(is_pascal(method.name()), "{}", method.full_name());
                assert_ne!(comment(&file, method.path()), "", "{}", method.full_name());
                let stem = format!("{}{}", service.name(), method.name());
                assert_eq!(method.input().name(), format!("{stem}Request"));
                let output = method.output();
                let is_http = output.full_name() == "google.api.HttpBody";
                assert!(is_http || output.name() == format!("{stem}Response"), "{}", output.full_name());
            }
        }
    }
}

fn check_message(message: &MessageDescriptor) {
    let file = message.parent_file();
    if message.is_map_entry() {
        return;
    }
    assert!(is_pascal(message.name()), "{}", message.full_name());
    assert_ne!(comment(&file, message.path()), "", "{} has no comment", message.full_name());
    for field in message.fields() {
        assert!(is_snake(field.name()), "{}", field.full_name());
        let comment = comment(&file, field.path());
        assert!(comment.ends_with('.'), "{}: {comment:?} is not a sentence", field.full_name());
    }
    message.child_messages().for_each(|inner| check_message(&inner));
}

#[test]
fn both_faces_serve_the_same_collections_alike() {
    for service in
        schema::pool().services().filter(|service| service.full_name().starts_with("osac.public.v1."))
    {
        let private = service.full_name().replace("public", "private");
        let private = schema::service(&private).unwrap_or_else(|| panic!("{private} is missing"));
        let names: Vec<String> = private.methods().map(|method| method.name().to_owned()).collect();
        for method in service
            .methods()
            .filter(|method| !method.name().starts_with("GetK") && !method.name().starts_with("GetP"))
        {
            assert!(names.iter().any(|name| name == method.name()), "{}", method.full_name());
        }
        assert!(service.methods().all(|method| method.name() != "Signal"), "signals are private");
    }
    assert!(schema::service("osac.public.v1.Hubs").is_none(), "tenants learn nothing of hubs");
}
