package kubevirt

import (
	"context"
	"errors"
	"fmt"

	"github.com/ledgerfish/ledgerfish/domain"
)

// image is where a volume's data comes from.
type image struct {
	url, user, password string
	insecure            bool // do not verify the server's certificate
}

func (c *Cluster) image(ctx context.Context, m domain.Machine, e domain.CreateVolume) (image, error) {
	img := image{url: e.Image, insecure: e.Insecure}
	if e.Secret == "" {
		return img, nil
	}
	var err error
	img.url, img.user, img.password, err = c.secrets.Read(ctx, m, e.Secret)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return image{}, terminal(errors.New("the image's full URL is not kept any more"))
	}
	if err != nil {
		return image{}, fmt.Errorf("read the image's full URL: %w", err)
	}
	return img, nil
}
