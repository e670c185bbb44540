package main
import ("fmt";"strings";"github.com/google/jsonschema-go/jsonschema";"github.com/go-json-experiment/json";"github.com/goccy/go-yaml/parser")
func main(){
 var s jsonschema.Schema
 fmt.Println(json.Unmarshal([]byte(`{"type":"object","properties":{"path":{"type":"string","minLength":1},"offset":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`),&s))
 r,err:=s.Resolve(nil); fmt.Println(err)
 for _,a:=range []string{`{}`,`{"path":1}`,`{"path":"","x":1}`,`{"path":"a","offset":0}`,`{"path":"a","offset":1.5}`,`{"path":"a","path":"b"}`,`{"path":1e999}`,`{"path":"a","offset":12345678901234567890123}`,`[1]`,`{"a":`, `{"path":"a"} x`, `{"path":"a","offset":null}`, "{\"path\":\"\xff\"}", `{"offset":1`+strings.Repeat("0",400)+`}`}{
  var v any
  if err:=json.Unmarshal([]byte(a),&v); err!=nil {fmt.Println("J",a,err);continue}
  fmt.Println("V",a,r.Validate(v))
 }
 for _,d:=range []string{strings.Repeat("[",200000),strings.Repeat("- ",200000)+"a", strings.Repeat("? ",100000), strings.Repeat("{a: ",100000)}{
  _,err:=parser.ParseBytes([]byte(d),0)
  e:=fmt.Sprint(err); if len(e)>200{e=e[:200]}
  fmt.Println("Y",len(d),e)
 }
}
