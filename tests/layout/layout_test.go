package layout

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/ledgerfish/ledgerfish/"
)

// product lists the folders of what is shipped; the rest are tests.
func product() []string {
	return []string{"cmd", "domain", "eventstore", "projections", "adapters"}
}

type file struct {
	path   string // from the root of the repository
	syntax *ast.File
	lines  int
}

func (f file) in(folder string) bool {
	return f.path == folder || strings.HasPrefix(f.path, folder+"/")
}

func (f file) test() bool {
	return strings.HasSuffix(f.path, "_test.go") || f.in("eventstore/storetest")
}

func (f file) imports() []string {
	var paths []string
	for _, i := range f.syntax.Imports {
		paths = append(paths, strings.Trim(i.Path.Value, `"`))
	}
	return paths
}

func files(t *testing.T) []file {
	t.Helper()
	var all []file
	for _, folder := range product() {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			syntax, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments)
			require.NoError(t, err)
			rel, err := filepath.Rel(root, path)
			all = append(all, file{path: filepath.ToSlash(rel), syntax: syntax, lines: bytes.Count(source, []byte("\n"))})
			return err
		}))
	}
	require.NotEmpty(t, all)
	return all
}

// rule says which packages a folder must not import, and why.
type rule struct {
	folder, banned, except, why string
}

func rules() []rule {
	return []rule{
		{"domain", module, "", "the vocabulary knows nobody"},
		{"eventstore", module + "projections", "", "the store is handed the snapshot and the summary that it writes"},
		{"eventstore", module + "adapters", "", "imports point one way"},
		{"projections", module + "eventstore", "", "what a log means does not depend on where it is kept"},
		{"projections", module + "adapters", "", "imports point one way"},
		{"adapters/redfish", module + "adapters/kubevirt", "", "the adapter declares what it needs; cmd ties them together"},
		{"adapters/redfish", module + "eventstore", "", "the adapter declares what it needs; cmd ties them together"},
		{"adapters/kubevirt", module + "adapters/redfish", "", "the adapter declares what it needs; cmd ties them together"},
		{"adapters/kubevirt", module + "eventstore", "", "the adapter declares what it needs; cmd ties them together"},
		{"domain", "k8s.io/", "", "only eventstore, adapters/kubevirt and cmd speak to Kubernetes"},
		{"projections", "k8s.io/", "", "only eventstore, adapters/kubevirt and cmd speak to Kubernetes"},
		{"adapters/redfish", "k8s.io/", "", "only eventstore, adapters/kubevirt and cmd speak to Kubernetes"},
		{"domain", "kubevirt.io/", "", "only adapters/kubevirt and cmd speak to KubeVirt"},
		{"projections", "kubevirt.io/", "", "only adapters/kubevirt and cmd speak to KubeVirt"},
		{"eventstore", "kubevirt.io/", "", "only adapters/kubevirt and cmd speak to KubeVirt"},
		{"adapters/redfish", "kubevirt.io/", "", "only adapters/kubevirt and cmd speak to KubeVirt"},
		{"", "github.com/looplab/fsm", "projections", "the tables have one place"},
		{"", "github.com/gorilla/mux", "adapters/redfish", "HTTP comes in at one place"},
		{"domain", "net/http", "", "pure: no I/O"},
		{"projections", "net/http", "", "pure: no I/O"},
		{"projections", "os", "", "pure: no I/O"},
		{"domain", "os", "", "pure: no I/O"},
		{"", "os/exec", "", "the product runs no other program, so no shell"},
		{"", "k8s.io/client-go/kubernetes/fake", "", "the fake enforces neither resourceVersion nor immutability"},
	}
}

func TestImportsPointOneWay(t *testing.T) {
	for _, f := range files(t) {
		for _, r := range rules() {
			if r.folder != "" && !f.in(r.folder) || r.except != "" && f.in(r.except) || f.test() && strings.HasPrefix(r.why, "pure") {
				continue
			}
			for _, path := range f.imports() {
				banned := path == r.banned || strings.HasPrefix(path, strings.TrimSuffix(r.banned, "/")+"/")
				assert.False(t, banned, "%s imports %s: %s", f.path, path, r.why)
			}
		}
		if !f.in("domain") || f.test() {
			continue
		}
		for _, path := range f.imports() {
			assert.False(t, strings.Contains(path, ".") && path != "github.com/google/uuid", "%s imports %s: domain has the standard library and google/uuid only", f.path, path)
		}
	}
}

func TestTheClockIsInjected(t *testing.T) {
	for _, f := range files(t) {
		if f.test() || f.in("cmd") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Now" {
				if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == "time" {
					assert.Fail(t, "time.Now", "%s: the clock is handed in; only cmd has one", f.path)
				}
			}
			return true
		})
	}
}

func TestAFileIsOneIdea(t *testing.T) {
	for _, f := range files(t) {
		if !f.test() {
			assert.Less(t, f.lines, 400, "%s: a file is one idea that fits in a head", f.path)
		}
	}
}

func TestEveryPackageStatesItsGuarantees(t *testing.T) {
	packages, documented := map[string]bool{}, map[string]bool{}
	for _, f := range files(t) {
		folder := filepath.Dir(f.path)
		packages[folder] = packages[folder] || !f.test()
		if filepath.Base(f.path) == "doc.go" {
			text := f.syntax.Doc.Text()
			documented[folder] = strings.Contains(text, "Guarantees:") && strings.Contains(text, "**")
		}
	}
	for folder, shipped := range packages {
		assert.True(t, !shipped || documented[folder], "%s: doc.go says what the package guarantees", folder)
	}
}
