package deploy

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// The names in deploy/base.
const (
	Namespace        = "ledgerfish"           // of the logs
	Account          = "ledgerfish"           // the bridge's ServiceAccount
	RetentionAccount = "ledgerfish-retention" // the only one that may delete logs
)

// Dir is deploy/ of the repository that this source file belongs to.
func Dir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "deploy")
}

// Build gives the objects of a kustomization, in its order. The path is one in fs.
func Build(fs filesys.FileSystem, path string) ([]*unstructured.Unstructured, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, path)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", path, err)
	}
	var objects []*unstructured.Unstructured
	for _, r := range built.Resources() {
		content, err := r.Map()
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", path, err)
		}
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return objects, nil
}

// Base gives the objects of deploy/base.
func Base() ([]*unstructured.Unstructured, error) {
	return Build(filesys.MakeFsOnDisk(), filepath.Join(Dir(), "base"))
}

// Apply brings objects to the cluster, in their order, as `kubectl apply --server-side` does.
func Apply(ctx context.Context, admin *rest.Config, objects []*unstructured.Unstructured) error {
	core, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(admin)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(core.Discovery()))
	for _, o := range objects {
		kind := o.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", kind.Kind, o.GetName(), err)
		}
		_, err = client.Resource(mapping.Resource).Namespace(o.GetNamespace()).Apply(ctx, o.GetName(), o,
			metav1.ApplyOptions{FieldManager: "ledgerfish-tests", Force: true})
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", kind.Kind, o.GetName(), err)
		}
	}
	return nil
}

// As gives a client configuration with the identity of a ServiceAccount, by a token of the API server that is good for
// an hour.
func As(ctx context.Context, admin *rest.Config, namespace, account string) (*rest.Config, error) {
	core, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return nil, err
	}
	answer, err := core.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of %s/%s: %w", namespace, account, err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = answer.Status.Token
	return config, nil
}

// WriteKubeconfig writes a client configuration that As gave, for a program that takes a file.
func WriteKubeconfig(config *rest.Config, path string) error {
	const name = "ledgerfish"
	out := clientcmdapi.NewConfig()
	out.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}
	out.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	out.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	out.CurrentContext = name
	return clientcmd.WriteToFile(*out, path)
}
