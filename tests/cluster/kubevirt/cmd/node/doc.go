// Command node plays the nodes of the test cluster (see package node): it serves virt-handler's REST API for virt-api
// and a control port for tests, whose GET / explains it.
//
// All its addresses are loopback ones. With -until-eof it ends when its standard input does.
package main
