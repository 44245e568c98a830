package virttemplate

import "k8s.io/client-go/rest"

type Clientset struct{}
type V1beta1 struct{}

func NewForConfig(*rest.Config) (*Clientset, error) { return &Clientset{}, nil }
func (*Clientset) TemplateV1beta1() *V1beta1        { return &V1beta1{} }
func (*V1beta1) RESTClient() rest.Interface         { return nil }
