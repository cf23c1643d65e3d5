//! The minimal gRPC server: Create, Get, List and Update of hosts, and events.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, SerializeOptions};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, broadcast, mpsc};
use tokio_postgres::{AsyncMessage, Client, NoTls, Row};

use crate::wire;

const CONNECTIONS: usize = 24;

const SCHEMA: &str = "
    create table hosts (
        id text primary key, name text not null default '',
        creation_timestamp timestamptz not null default now(),
        deletion_timestamp timestamptz not null default 'epoch',
        finalizers text[] not null default '{}', creators text[] not null default '{}',
        tenants text[] not null default '{}', labels jsonb not null default '{}',
        annotations jsonb not null default '{}', version integer not null default 0, data jsonb not null);
    create index hosts_rack on hosts ((data->'spec'->>'rack'));
    create table notifications (id bigserial primary key, payload bytea not null);";

const COLUMNS: &str = "id, name, to_char(creation_timestamp at time zone 'utc', \
    'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), creators, tenants, version, data::text";

struct Peer {
    free: Mutex<mpsc::UnboundedReceiver<Client>>,
    back: mpsc::UnboundedSender<Client>,
    events: broadcast::Sender<Bytes>,
}

/// Serves until it is killed.
pub async fn serve(url: &str) {
    let first = connect(url).await;
    first.batch_execute(SCHEMA).await.unwrap();
    let (back, free) = mpsc::unbounded_channel();
    back.send(first).unwrap();
    for _ in 1..CONNECTIONS {
        back.send(connect(url).await).unwrap();
    }
    let (events, _) = broadcast::channel(4096);
    let peer = Arc::new(Peer { free: Mutex::new(free), back, events });
    listen(url, peer.clone()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let peer = peer.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let peer = peer.clone();
                async move { Ok::<_, Infallible>(peer.answer(request).await) }
            });
            let _ = http2::Builder::new(TokioExecutor::new())
                .max_concurrent_streams(1000)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Hands notifications on to all watchers.
async fn listen(url: &str, peer: Arc<Peer>) {
    let (client, mut connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let (tell, mut told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(notification) = message {
                let _ = tell.send(notification.payload().to_owned());
            }
        }
    });
    client.batch_execute("listen events").await.unwrap();
    tokio::spawn(async move {
        while let Some(id) = told.recv().await {
            let id: i64 = id.parse().unwrap();
            let row =
                client.query_one("select payload from notifications where id = $1", &[&id]).await.unwrap();
            let payload: Vec<u8> = row.get(0);
            let _ = peer.events.send(wire::frame(&payload));
        }
    });
}

type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

impl Peer {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let message = body.slice(5..);
        if path.ends_with("Events/Watch") {
            return self.watch();
        }
        let answer = match path.as_str() {
            "/osac.private.v1.Hosts/Create" => self.create(message).await,
            "/osac.private.v1.Hosts/Get" => self.get(message).await,
            "/osac.private.v1.Hosts/List" => self.list(message).await,
            "/osac.private.v1.Hosts/Update" => self.update(message).await,
            other => panic!("{other} is not served"),
        };
        let frames = [Ok(Frame::data(wire::frame(&answer))), Ok(Frame::trailers(ended()))];
        response(StreamBody::new(tokio_stream::iter(frames)).boxed_unsync())
    }

    fn watch(&self) -> Response<Body> {
        let mut events = self.events.subscribe();
        let (tell, told) = mpsc::unbounded_channel();
        // A mark of progress, so that watchers know that they watch.
        let _ = tell.send(Ok(Frame::data(wire::frame(&[]))));
        tokio::spawn(async move {
            while let Ok(event) = events.recv().await {
                if tell.send(Ok(Frame::data(event))).is_err() {
                    return;
                }
            }
        });
        response(StreamBody::new(tokio_stream::wrappers::UnboundedReceiverStream::new(told)).boxed_unsync())
    }

    async fn client(&self) -> Client {
        self.free.lock().await.recv().await.unwrap()
    }

    async fn create(&self, message: Bytes) -> Vec<u8> {
        let request = json_of("HostsCreateRequest", message);
        let object = &request["object"];
        let data =
            json!({"spec": object["spec"], "status": object.get("status").cloned().unwrap_or(json!({}))});
        let mut client = self.client().await;
        let transaction = client.transaction().await.unwrap();
        let insert = format!(
            "insert into hosts (id, creators, tenants, data) values ($1, '{{system}}', '{{shared}}', $2::text::jsonb) \
             returning {COLUMNS}"
        );
        let id = object["id"].as_str().unwrap();
        let row = transaction.query_one(&insert, &[&id, &data.to_string()]).await.unwrap();
        let host = host_of(&row);
        notify(&transaction, 1, &host).await;
        transaction.commit().await.unwrap();
        self.back.send(client).unwrap();
        wrapped("HostsCreateResponse", &json!({ "object": host }))
    }

    async fn get(&self, message: Bytes) -> Vec<u8> {
        let request = json_of("HostsGetRequest", message);
        let client = self.client().await;
        let select = format!("select {COLUMNS} from hosts where id = $1");
        let row = client.query_one(&select, &[&request["id"].as_str().unwrap()]).await.unwrap();
        self.back.send(client).unwrap();
        wrapped("HostsGetResponse", &json!({ "object": host_of(&row) }))
    }

    async fn list(&self, message: Bytes) -> Vec<u8> {
        let request = json_of("HostsListRequest", message);
        let limit = request["limit"].as_i64().unwrap_or(100);
        let rack = request["filter"].as_str().and_then(|filter| filter.split('\'').nth(1));
        let client = self.client().await;
        let by = if rack.is_some() { "where data->'spec'->>'rack' = $1" } else { "where $1::text is null" };
        let count = format!("select count(*) from hosts {by}");
        let select = format!("select {COLUMNS} from hosts {by} order by id limit $2");
        let total: i64 = client.query_one(&count, &[&rack]).await.unwrap().get(0);
        let rows = client.query(&select, &[&rack, &limit]).await.unwrap();
        self.back.send(client).unwrap();
        let items: Vec<Value> = rows.iter().map(host_of).collect();
        wrapped("HostsListResponse", &json!({"size": items.len(), "total": total, "items": items}))
    }

    async fn update(&self, message: Bytes) -> Vec<u8> {
        let request = json_of("HostsUpdateRequest", message);
        let id = request["object"]["id"].as_str().unwrap();
        let mut client = self.client().await;
        let transaction = client.transaction().await.unwrap();
        let select = "select data::text from hosts where id = $1 for update";
        let data: String = transaction.query_one(select, &[&id]).await.unwrap().get(0);
        let mut data: Value = serde_json::from_str(&data).unwrap();
        for path in request["update_mask"].as_str().unwrap().split(',') {
            let pointer = format!("/{}", path.replace('.', "/"));
            let value = request["object"].pointer(&pointer).cloned().unwrap_or_default();
            data["spec"][path.rsplit('.').next().unwrap()] = value;
        }
        let change = format!(
            "update hosts set data = $2::text::jsonb, version = version + 1 where id = $1 returning {COLUMNS}"
        );
        let row = transaction.query_one(&change, &[&id, &data.to_string()]).await.unwrap();
        let host = host_of(&row);
        notify(&transaction, 2, &host).await;
        transaction.commit().await.unwrap();
        self.back.send(client).unwrap();
        wrapped("HostsUpdateResponse", &json!({ "object": host }))
    }
}

/// Keeps an event beside the change, and tells of it when the transaction is committed.
async fn notify(transaction: &tokio_postgres::Transaction<'_>, kind: i32, host: &Value) {
    let payload = wrapped("EventsWatchResponse", &json!({"event": {"type": kind, "host": host}}));
    let insert = "insert into notifications (payload) values ($1) returning id";
    let id: i64 = transaction.query_one(insert, &[&payload]).await.unwrap().get(0);
    transaction.execute("select pg_notify('events', $1)", &[&id.to_string()]).await.unwrap();
}

fn host_of(row: &Row) -> Value {
    let mut host: Value = serde_json::from_str(row.get(6)).unwrap();
    host["id"] = row.get::<_, String>(0).into();
    host["metadata"] = json!({
        "name": row.get::<_, String>(1), "creation_timestamp": row.get::<_, String>(2),
        "creators": row.get::<_, Vec<String>>(3), "tenants": row.get::<_, Vec<String>>(4),
        "version": row.get::<_, i32>(5),
    });
    host
}

fn json_of(message: &str, bytes: Bytes) -> Value {
    let of = gateway::schema::message(&format!("osac.private.v1.{message}")).unwrap();
    let message = DynamicMessage::decode(of, bytes).unwrap();
    let options = SerializeOptions::new().use_proto_field_name(true);
    message.serialize_with_options(serde_json::value::Serializer, &options).unwrap()
}

fn wrapped(message: &str, value: &Value) -> Vec<u8> {
    let of = gateway::schema::message(&format!("osac.private.v1.{message}")).unwrap();
    DynamicMessage::deserialize(of, value).unwrap().encode_to_vec()
}

fn ended() -> HeaderMap {
    HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"))])
}

fn response(body: Body) -> Response<Body> {
    Response::builder().header("content-type", "application/grpc").body(body).unwrap()
}
