// Package policy proves on the real API server that a log is append-only for every client, cluster-admin included, that
// only the retention account and a namespace's deletion remove one, and that other ConfigMaps are nobody's business.
package policy
