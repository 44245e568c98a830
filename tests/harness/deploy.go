package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/bcrypt"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// The account of the Redfish service in tests.
const (
	User     = "admin"
	Password = "correct horse battery staple"
)

// deploy applies what an operator applies, and the accounts. There is nobody in this cluster who runs Deployments: the
// bridge is started by StartBridge instead, under the same rights.
func (e *Env) deploy(ctx context.Context) error {
	if _, err := e.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(Root(), "deploy", "base")); err != nil {
		return err
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.MinCost)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "ledgerfish-credentials"},
		StringData: map[string]string{"htpasswd": User + ":" + string(hash) + "\n"}}
	secrets := e.Core.CoreV1().Secrets(LedgerNamespace)
	_, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("make the accounts: %w", err)
	}
	return nil
}

// kubeconfig writes one with a token of a ServiceAccount and nothing else, and returns its path.
func (e *Env) kubeconfig(ctx context.Context, account string) (string, error) {
	seconds := int64(24 * 60 * 60)
	token, err := e.Core.CoreV1().ServiceAccounts(LedgerNamespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of ServiceAccount %s: %w", account, err)
	}
	admin, err := clientcmd.LoadFromFile(e.Cluster.Kubeconfig)
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters = admin.Clusters
	config.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts[account] = &clientcmdapi.Context{Cluster: admin.Contexts[admin.CurrentContext].Cluster, AuthInfo: account, Namespace: LedgerNamespace}
	config.CurrentContext = account
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", err
	}
	path := filepath.Join(e.dir, account+".kubeconfig")
	return path, os.WriteFile(path, content, 0o600)
}
