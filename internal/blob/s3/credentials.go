package s3

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// credentialsFor finds who we are to the store. They are renewed by the client before they expire,
// and shown to nobody.
func credentialsFor(opts Options, t *http.Transport) (*credentials.Credentials, error) {
	// Where there is no machine that gives them out, nobody waits long for it.
	client := &http.Client{Transport: t, Timeout: 10 * time.Second}
	instance := &credentials.IAM{Client: client, Region: opts.Region}
	var from []credentials.Provider
	next := ""
	switch opts.Credentials {
	case "":
		from = []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, instance}
		next = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write a credentials file"
	case "environment":
		from = []credentials.Provider{&credentials.EnvAWS{}}
		next = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	case "file":
		from = []credentials.Provider{&credentials.FileAWSCredentials{}}
		next = "write ~/.aws/credentials, or name the file in AWS_SHARED_CREDENTIALS_FILE"
	case "web":
		if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") == "" {
			return nil, errors.New("credentials=web needs a token; name its file in AWS_WEB_IDENTITY_TOKEN_FILE, and the role in AWS_ROLE_ARN")
		}
		from = []credentials.Provider{instance}
		next = "see that the token is valid, and AWS_ROLE_ARN names a role that trusts it"
	case "instance":
		from = []credentials.Provider{instance}
		next = "give the machine a role"
	default:
		return nil, fmt.Errorf("credentials=%s; write environment, file, web or instance", opts.Credentials)
	}
	creds := credentials.NewChainCredentials(from)
	// The chain has no error for having found none, and would ask as nobody. The error of one that
	// failed may have a secret's neighbourhood in it: it is left out.
	v, err := creds.GetWithContext(&credentials.CredContext{Client: client})
	if err != nil || v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return nil, fmt.Errorf("there are no credentials; %s", next)
	}
	return creds, nil
}
