// Command ledgerfish is the bridge, and the tools that read its logs. It ties the packages together: flags, environment,
// signals, clients and the one clock. Nothing else knows everything.
//
// Guarantees:
//   - **Bad configuration is a clear error before anything is started**, and an unknown key in the config file is one.
//   - **Not ready means 503**: no call is answered from a log that has not been read, or while the API server can not be
//     reached.
//   - **A stop takes seconds**: requests under way are answered, the worker ends its step, nothing is left half written
//     that the log would not finish.
//
// Start reading at serve.go.
package main
