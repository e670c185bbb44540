import { describe, expect, it } from 'vitest'
import { bundleOf } from './files'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('bundleOf', () => {
  it('names files from where quest.yaml stands', () => {
    const bundle = bundleOf(new Map([['x/quest.yaml', bytes('name: x')], ['x/data/a.csv', bytes('1,2')], ['other.txt', bytes('no')]]))
    expect(bundle.yaml).toBe('name: x')
    expect(bundle.files).toEqual([{ path: 'data/a.csv', base64: btoa('1,2') }])
  })
  it('takes the quest.yaml that stands highest', () => {
    expect(bundleOf(new Map([['a/b/quest.yaml', bytes('deep')], ['a/quest.yaml', bytes('high')]])).yaml).toBe('high')
  })
  it('says so if there is none', () => {
    expect(() => bundleOf(new Map([['a.csv', bytes('')]]))).toThrow('no quest.yaml')
  })
})
