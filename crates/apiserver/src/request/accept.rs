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

/// What an endpoint has to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    /// Documents, in one form only.
    Documents,
    /// Objects, as they are or as tables and metadata.
    Objects {
        /// Whether whole objects have a message. Their metadata has one always, tables never.
        have_message: bool,
    },
}

impl Accept {
    /// The best of what is asked for that can be given. Tables and partial objects are given where `forms` says so.
    pub fn negotiate(headers: &HeaderMap, forms: bool) -> Result<Accept, Status> {
        let offer = if forms { Offer::Objects { have_message: true } } else { Offer::Documents };
        Accept::among(headers, offer)
    }

    /// The best of what is asked for that objects of a kind can be given in. Only some have protobuf; for the others,
    /// whoever accepts something else too gets that.
    pub fn of_kind(headers: &HeaderMap, kind: &Kind, version: &str) -> Result<Accept, Status> {
        let have_message = has_message(&kind.api_version(version), &kind.names.kind);
        Accept::among(headers, Offer::Objects { have_message })
    }

    fn among(headers: &HeaderMap, offer: Offer) -> Result<Accept, Status> {
        let values: Vec<&str> =
            headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        let joined = values.join(",");
        let pretty = is_for_people(headers);
        if joined.trim().is_empty() {
            return Ok(Accept { pretty, ..Accept::default() });
        }
        let clauses = in_order(&joined);
        let mut found = clauses.iter().filter_map(|clause| clause.accept(offer));
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

/// The media type in which a document of another group is asked for, as `as=APIGroupDiscoveryList` does; it is preferred
/// to any without.
pub fn asked_as(headers: &HeaderMap, group: &str, version: &str, kind: &str) -> Option<Media> {
    let values: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let joined = values.join(",");
    let clauses = in_order(&joined);
    let mut found = clauses.iter().filter(|clause| {
        (clause.group, clause.version, clause.form) == (group, version, Some(kind))
            && clause.server_version.is_empty()
    });
    found.find_map(Clause::media)
}

/// The clauses of a header, in the order in which Kubernetes tries them: by quality, and whatever is not a wildcard before
/// one, also where that one has more quality.
fn in_order(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    for next in header.split(',').map(clause) {
        let is_before = |other: &Clause<'_>| {
            let (a, b) = (next.wildness(), other.wildness());
            next.quality > other.quality || (!a.0 && b.0) || (!a.1 && b.1)
        };
        let at = clauses.iter().rposition(|other| !is_before(other)).map_or(0, |at| at + 1);
        clauses.insert(at, next);
    }
    clauses
}

struct Clause<'a> {
    media: &'a str,
    quality: f32,
    form: Option<&'a str>,
    group: &'a str,
    version: &'a str,
    stream: &'a str,
    server_version: &'a str,
    pretty: bool,
}

fn clause(text: &str) -> Clause<'_> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let mut clause = Clause {
        media,
        quality: 1.0,
        form: None,
        group: "",
        version: "",
        stream: "",
        server_version: "",
        pretty: false,
    };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key {
            "q" => clause.quality = value.parse().unwrap_or(1.0),
            "as" => clause.form = Some(value),
            "g" => clause.group = value,
            "v" => clause.version = value,
            "stream" => clause.stream = value,
            "sv" => clause.server_version = value,
            "pretty" => clause.pretty = value == "1",
            _ => {}
        }
    }
    clause
}

impl Clause<'_> {
    fn media(&self) -> Option<Media> {
        let media = match self.media {
            "application/json" | "application/*" | "*/*" => Media::Json,
            "application/yaml" => Media::Yaml,
            "application/vnd.kubernetes.protobuf" => Media::Protobuf,
            _ => return None,
        };
        let is_streamable = self.stream.is_empty() || (self.stream == "watch" && media != Media::Yaml);
        is_streamable.then_some(media)
    }

    /// Whether its type is a wildcard, and whether its subtype is one.
    fn wildness(&self) -> (bool, bool) {
        (self.media.starts_with("*/"), self.media.ends_with("/*"))
    }

    fn accept(&self, offer: Offer) -> Option<Accept> {
        let media = self.media()?;
        let is_version = self.server_version.is_empty()
            || (self.server_version == "v1" && matches!(offer, Offer::Objects { .. }));
        if !is_version {
            return None;
        }
        let form = self.form(offer, media)?;
        let version = match (form, self.version) {
            (Form::Whole, _) | (_, "v1") => "v1",
            (_, "v1beta1") => "v1beta1",
            _ => return None,
        };
        Some(Accept { media, form, version, pretty: self.pretty, ..Accept::default() })
    }

    /// What is to be made of an object; `None` where this can't be.
    fn form(&self, offer: Offer, media: Media) -> Option<Form> {
        let have_message = match offer {
            Offer::Documents => true,
            Offer::Objects { have_message } => have_message,
        };
        match self.form {
            // A group or version without a form means nothing.
            None if !self.group.is_empty() || !self.version.is_empty() => None,
            None => (media != Media::Protobuf || have_message).then_some(Form::Whole),
            Some(_) if offer == Offer::Documents || self.group != "meta.k8s.io" => None,
            Some("Table") => (media != Media::Protobuf).then_some(Form::Table),
            Some("PartialObjectMetadata") => Some(Form::Partial),
            Some("PartialObjectMetadataList") => Some(Form::PartialList),
            Some(_) => None,
        }
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
        assert_eq!((metadata.media, metadata.form), (Media::Protobuf, Form::Partial));
        let table = "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/yaml";
        assert_eq!(negotiate(table).unwrap().media, Media::Yaml);
        assert_eq!(negotiate("application/xml,application/json;q=0.5").unwrap(), Accept::default());
        assert_eq!(negotiate("application/yaml").unwrap().media, Media::Yaml);
        assert_eq!(negotiate("*/*, application/yaml;q=0.5").unwrap().media, Media::Yaml);
        assert_eq!(negotiate("application/json;q=0").unwrap().media, Media::Json);
    }

    #[test]
    fn kinds_without_a_message_are_given_in_the_next_form_that_is_accepted() {
        let offered = |accept: &str| {
            let headers = HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]);
            Accept::among(&headers, Offer::Objects { have_message: false })
        };
        let protobuf = "application/vnd.kubernetes.protobuf";
        assert_eq!(offered(&format!("{protobuf},application/json")).unwrap().media, Media::Json);
        assert_eq!(
            offered(&format!("{protobuf},application/json;q=0.9,application/yaml")).unwrap().media,
            Media::Yaml
        );
        assert_eq!(offered(protobuf).unwrap_err().message, Status::not_acceptable(OFFERED).message);
        let metadata =
            offered(&format!("{protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")).unwrap();
        assert_eq!((metadata.media, metadata.form), (Media::Protobuf, Form::PartialList));
    }

    #[test]
    fn what_cannot_be_given_is_refused() {
        for accept in [
            "text/plain",
            "application/cbor",
            "application/json;as=Nope;v=v1;g=meta.k8s.io",
            "application/json;v=v1;g=meta.k8s.io",
            "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
            "application/yaml;stream=watch",
            "application/json;stream=chunks",
            "application/json;sv=v2",
        ] {
            assert_eq!(negotiate(accept).unwrap_err().code, 406, "{accept}");
        }
        assert_eq!(negotiate("application/json;v=v9;g=meta.k8s.io;as=Table").unwrap_err().code, 406);
    }
}
