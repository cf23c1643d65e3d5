#!/usr/bin/env bash
# Fills a fresh server with a little of everything and keeps its store: make.sh BINARY ARCHIVE
set -euo pipefail
binary=$1
archive=$(realpath "$2")
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

"$binary" serve --data "$data" --listen 127.0.0.1:0 --audit-log none >"$data/told" 2>"$data/log" &
server=$!
until grep -q KUBECONFIG "$data/told"; do sleep 0.1; done
export KUBECONFIG=$data/admin.kubeconfig

kubectl create namespace kept
kubectl -n kept create configmap menu --from-literal=soup=leek
kubectl -n kept patch configmap menu --type merge -p '{"data":{"soup":"tomato"}}'
kubectl -n kept create secret generic safe --from-literal=word=abracadabra
kubectl -n kept create serviceaccount cook
kubectl create clusterrole reader --verb=get --resource=configmaps
kubectl create clusterrolebinding reader --clusterrole=reader --serviceaccount=kept:cook
kubectl apply -f - <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: spoons.kept.example.com
spec:
  group: kept.example.com
  scope: Namespaced
  names: {plural: spoons, singular: spoon, kind: Spoon, listKind: SpoonList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              length: {type: integer, minimum: 1}
YAML
kubectl wait --for=condition=Established crd/spoons.kept.example.com --timeout=10s
kubectl -n kept create -f - <<'YAML'
apiVersion: kept.example.com/v1
kind: Spoon
metadata: {name: ladle, labels: {size: large}}
spec: {length: 30}
YAML
for n in 1 2 3 4 5; do kubectl -n kept create configmap "gone-$n"; done
kubectl -n kept delete configmap gone-1 gone-2
kill "$server"
wait "$server"
tar -C "$data" --owner=0 --group=0 -czf "$archive" store
