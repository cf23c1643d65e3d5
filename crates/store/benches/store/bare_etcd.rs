//! Bare etcd: the same objects over the same gRPC by a `Txn` of one put: nothing guarded, nothing recorded.

use tonic::transport::Channel;

use crate::Outcome;
use crate::load::Subject;
use crate::objects;

#[allow(
    dead_code,
    missing_docs,
    clippy::all,
    clippy::unwrap_used,
    reason = "generated from etcd's own description"
)]
#[path = "../../src/etcd/client/wire.rs"]
mod pb;

use pb::kv_client::KvClient;
use pb::request_op::Request;
use pb::{PutRequest, RequestOp, TxnRequest};

pub struct BareEtcd {
    client: KvClient<Channel>,
}

impl BareEtcd {
    pub async fn connect(endpoint: String) -> Outcome<BareEtcd> {
        Ok(BareEtcd { client: KvClient::connect(endpoint).await? })
    }
}

impl Subject for BareEtcd {
    async fn write(&self, number: usize, body: Vec<u8>) -> Outcome {
        let key = format!("bare/{}", objects::key(number)).into();
        let put = PutRequest { key, value: body.into(), ..PutRequest::default() };
        let success = vec![RequestOp { request: Some(Request::RequestPut(put)) }];
        self.client.clone().txn(TxnRequest { success, ..TxnRequest::default() }).await?;
        Ok(())
    }
}
