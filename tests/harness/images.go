package harness

import (
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Image is what the image server answers for one path, and how badly.
type Image struct {
	ISO   ISO
	Takes time.Duration // a download lasts so long; 0: as fast as it goes

	Status   int    // instead of 200, with an empty body
	Refuse   bool   // the connection is closed without an answer
	Hang     bool   // half of the data, then nothing more for as long as the client waits
	NoLength bool   // no Content-Length, chunked
	NoHead   bool   // HEAD is answered 405
	Redirect string // 302 to this URL
}

// Images is a server for images on the loopback interface.
type Images struct {
	CA []byte // PEM of the authority behind its certificate; nil: plain HTTP

	url    string
	server *http.Server
	served sync.WaitGroup

	mu     sync.Mutex
	images map[string]Image
	gets   map[string]int
}

// ServeImages starts a server for images, over HTTPS with a certificate of an authority of its own, or over HTTP.
func ServeImages(https bool) (*Images, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Images{url: "http://" + listener.Addr().String(), images: map[string]Image{}, gets: map[string]int{}}
	if https {
		certificate, ca, err := newCertificate()
		if err != nil {
			return nil, err
		}
		s.CA, s.url = ca, "https://"+listener.Addr().String()
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ErrorLog: discardLog()}
	s.served.Go(func() { _ = s.server.Serve(listener) })
	return s, nil
}

// Close ends all downloads.
func (s *Images) Close() {
	_ = s.server.Close()
	s.served.Wait()
}

// Put serves an image under a path from now on; a download that goes on keeps what it had. It returns the URL.
func (s *Images) Put(path string, image Image) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	path = "/" + strings.TrimPrefix(path, "/")
	s.images[path] = image
	return s.url + path
}

// Gets is how many GETs without a Range asked for a path so far.
func (s *Images) Gets(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gets["/"+strings.TrimPrefix(path, "/")]
}

// ServeHTTP implements http.Handler.
func (s *Images) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	image, found := s.find(r)
	switch {
	case !found:
		http.NotFound(w, r)
	case image.Refuse:
		panic(http.ErrAbortHandler)
	case image.Redirect != "":
		http.Redirect(w, r, image.Redirect, http.StatusFound)
	case image.Status != 0:
		w.WriteHeader(image.Status)
	case r.Method == http.MethodHead && image.NoHead:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		send(w, r, image)
	}
}

func (s *Images) find(r *http.Request) (Image, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet && r.Header.Get("Range") == "" {
		s.gets[r.URL.Path]++
	}
	image, found := s.images[r.URL.Path]
	return image, found
}

// send spreads the data evenly over the time it takes.
func send(w http.ResponseWriter, r *http.Request, image Image) {
	data := image.ISO.Data
	w.Header().Set("Content-Type", "application/octet-stream")
	if !image.NoLength {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	}
	if r.Method == http.MethodHead {
		return
	}
	const pause = 100 * time.Millisecond
	steps := max(int(image.Takes/pause), 1)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := range steps {
		if image.Hang && i >= steps/2 {
			<-r.Context().Done()
			return
		}
		if _, err := w.Write(data[len(data)*i/steps : len(data)*(i+1)/steps]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // a client that has gone shows at the next write
		if i == steps-1 && image.Takes == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}
