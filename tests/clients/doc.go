// Package clients lets programs that others have written drive a machine over the real bridge, unmodified.
package clients
