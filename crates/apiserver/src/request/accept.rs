//! Content negotiation.

use http::HeaderMap;
use http::header::{ACCEPT, USER_AGENT};
use krm::kind::Kind;
use krm::proto::has_message;
use krm::status::Status;
use krm::table::IncludeObject;

use super::query::Query;

/// What can be given.
const OFFERED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Media {
    /// JSON.
    #[default]
    Json,
    /// YAML.
    Yaml,
    /// Kubernetes' protobuf, which only its own kinds have.
    Protobuf,
}

/// What is made of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// The object itself.
    #[default]
    Whole,
    /// Rows for people.
    Table,
    /// Its metadata.
    Partial,
    /// The metadata of each of many.
    PartialList,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accept {
    /// How it is written.
    pub media: Media,
    /// What is made of the objects.
    pub form: Form,
    /// The version of `meta.k8s.io` that tables and partial objects are of.
    pub version: &'static str,
    /// How much of each object goes into a table.
    pub include: IncludeObject,
    /// Indented for people.
    pub pretty: bool,
    /// What else would do where there is no protobuf.
    pub instead: Option<Media>,
}

impl Default for Accept {
    fn default() -> Accept {
        Accept {
            media: Media::Json,
            form: Form::Whole,
            version: "v1",
            include: IncludeObject::default(),
            pretty: false,
            instead: None,
        }
    }
}

impl Accept {
    /// The best of what is asked for that can be given. Tables and partial objects are given where `forms` says so.
    pub fn negotiate(headers: &HeaderMap, forms: bool) -> Result<Accept, Status> {
        let values: Vec<&str> =
            headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        let joined = values.join(",");
        let pretty = is_for_people(headers);
        if joined.trim().is_empty() {
            return Ok(Accept { pretty, ..Accept::default() });
        }
        let mut clauses: Vec<(Clause<'_>, usize)> = joined.split(',').map(clause).zip(0..).collect();
        clauses.sort_by(|(a, at), (b, bt)| b.quality.total_cmp(&a.quality).then(at.cmp(bt)));
        let found = clauses.iter().filter(|(clause, _)| clause.quality > 0.0);
        let mut found = found.filter_map(|(clause, _)| clause.accept(forms));
        let mut accept = found.next().ok_or_else(|| Status::not_acceptable(OFFERED))?;
        accept.pretty |= pretty;
        if accept.media == Media::Protobuf {
            let other = found.find(|other| other.media != Media::Protobuf && other.form == Form::Whole);
            accept.instead = other.map(|other| other.media);
        }
        Ok(accept)
    }

    /// The same with what the query says of tables and of how pretty it is to be.
    pub fn with_query(mut self, query: &Query) -> Result<Accept, Status> {
        if let Some(text) =
            query.get("includeObject").filter(|text| self.form == Form::Table && !text.is_empty())
        {
            let Some(include) = IncludeObject::parse(text) else {
                return Err(Status::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {text:?}: must be \
                     'Metadata', 'Object', 'None', or empty"
                )));
            };
            self.include = include;
        }
        if let Some(pretty) = query.flag("pretty") {
            self.pretty = pretty;
        }
        Ok(self)
    }

    /// The same for a kind, which may have no protobuf.
    pub fn settled(self, kind: &Kind, version: &str) -> Accept {
        match self.instead {
            Some(media) if !has_message(&kind.api_version(version), &kind.names.kind) => {
                Accept { media, ..self }
            }
            _ => self,
        }
    }

    /// The media type of the answer.
    pub fn content_type(&self) -> &'static str {
        match self.media {
            Media::Json => "application/json",
            Media::Yaml => "application/yaml",
            Media::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }
}

/// Browsers and the usual tools of the command line get what they can show.
fn is_for_people(headers: &HeaderMap) -> bool {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|program| agent.starts_with(program))
}

struct Clause<'a> {
    media: &'a str,
    quality: f32,
    form: Option<&'a str>,
    group: &'a str,
    version: &'a str,
    pretty: bool,
}

fn clause(text: &str) -> Clause<'_> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let mut clause = Clause { media, quality: 1.0, form: None, group: "", version: "", pretty: false };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key {
            "q" => clause.quality = value.parse().unwrap_or(1.0),
            "as" => clause.form = Some(value),
            "g" => clause.group = value,
            "v" => clause.version = value,
            "pretty" => clause.pretty = value == "1",
            _ => {}
        }
    }
    clause
}

impl Clause<'_> {
    fn accept(&self, forms: bool) -> Option<Accept> {
        let media = match self.media {
            "application/json" | "application/*" | "*/*" => Media::Json,
            "application/yaml" => Media::Yaml,
            // Tables and the like have no messages.
            "application/vnd.kubernetes.protobuf" if self.form.is_none() => Media::Protobuf,
            _ => return None,
        };
        let form = match self.form {
            None => Form::Whole,
            Some(_) if !forms || self.group != "meta.k8s.io" => return None,
            Some("Table") => Form::Table,
            Some("PartialObjectMetadata") => Form::Partial,
            Some("PartialObjectMetadataList") => Form::PartialList,
            Some(_) => return None,
        };
        let version = match (form, self.version) {
            (Form::Whole, _) | (_, "v1") => "v1",
            (_, "v1beta1") => "v1beta1",
            _ => return None,
        };
        Some(Accept { media, form, version, pretty: self.pretty, ..Accept::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiate(accept: &str) -> Result<Accept, Status> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        Accept::negotiate(&headers, true)
    }

    #[test]
    fn the_first_form_that_can_be_given_is_taken() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(negotiate(kubectl).unwrap().form, Form::Table);
        let either = negotiate("application/vnd.kubernetes.protobuf,application/json").unwrap();
        assert_eq!((either.media, either.instead), (Media::Protobuf, Some(Media::Json)));
        assert_eq!(negotiate("application/vnd.kubernetes.protobuf").unwrap().instead, None);
        let metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
             application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
        let metadata = negotiate(metadata).unwrap();
        assert_eq!((metadata.media, metadata.form), (Media::Json, Form::Partial));
        assert_eq!(negotiate("application/xml,application/json;q=0.5").unwrap(), Accept::default());
        assert_eq!(negotiate("application/yaml").unwrap().media, Media::Yaml);
    }

    #[test]
    fn what_cannot_be_given_is_refused() {
        for accept in ["text/plain", "application/cbor", "application/json;as=Nope;v=v1;g=meta.k8s.io"] {
            assert_eq!(negotiate(accept).unwrap_err().code, 406, "{accept}");
        }
        assert_eq!(negotiate("application/json;v=v9;g=meta.k8s.io;as=Table").unwrap_err().code, 406);
    }
}
