package search
import "testing"
import "context"
func BenchmarkSearch(b *testing.B){ x:=NewIndex(texts(zipfian(1,10000,160)...)); b.ResetTimer(); for b.Loop(){ x.Search(context.Background(),"w5 w70 w300",10)} }
func BenchmarkTokens(b *testing.B){ t:=zipfian(1,1000,160); var s scanner; n:=0; for _,x:=range t{n+=len(x)}; b.SetBytes(int64(n)); for b.Loop(){ for _,x:=range t{ s.scan(x,func([]byte,int,int){})}} }
