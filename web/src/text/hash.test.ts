import { describe, expect, it } from 'vitest'
import { lineHash, rawLines, sha256 } from './hash'

// Two lines of a real ledger, to the byte.
const before = '62673b621d0200cce2addd74935e89665b6ef062168486e3614604fbdf58dca0'
/* eslint-disable max-len */
const first = String.raw`{"actor":"person","body":{"limits":{},"version":"0.1.0-dev"},"hash":"fcec701ae5101fa360f726f4bd32f7bfd9de7a5212b279184452e19a47a7d289","parent":0,"quest":"thermal","seq":2,"time":"2026-11-15T14:09:59.677074Z","tool":"","type":"quest.started"}`
const second = String.raw`{"actor":"planner","body":{"belief":"task","reason":"the quest names it","value":"What is the activation energy of the sample in rates.csv? Determine it by an Arrhenius\nfit, explain how the activation energy follows from the slope, and check the result."},"hash":"0a032756a4a26bb590833a5f0229f48b3a9fede78275590e7ea543272a88fa49","parent":2,"quest":"thermal","seq":3,"time":"2026-11-15T14:09:59.677074Z","tool":"","type":"belief.updated"}`
/* eslint-enable max-len */

describe('lineHash', () => {
  it('finds the hash that the ledger has', async () => {
    expect(await lineHash(before, first)).toBe((JSON.parse(first) as { hash: string }).hash)
    expect(await lineHash((JSON.parse(first) as { hash: string }).hash, second)).toBe((JSON.parse(second) as { hash: string }).hash)
  })
  it('finds one changed byte, and another past', async () => {
    const hash = (JSON.parse(second) as { hash: string }).hash
    expect(await lineHash((JSON.parse(first) as { hash: string }).hash, second.replace('task', 'tusk'))).not.toBe(hash)
    expect(await lineHash(before, second)).not.toBe(hash)
  })
})

describe('rawLines', () => {
  it('cuts the lines out as they are, whatever the bodies hold', () => {
    const odd = '{"actor":"a","body":{"text":"}\\"{ \\"event\\":{\\"actor\\":"},"hash":"x","parent":0,"quest":"q","seq":1,"time":"t","tool":"","type":"t"}'
    expect(rawLines(`{"events":[{"input":true,"event":${first}},{"input":false,"event":${odd}}],"head":2}`)).toEqual([first, odd])
  })
})

describe('sha256', () => {
  it('is over the bytes of the text', async () => {
    expect(await sha256('Möbius')).toBe('cb1b4119d71fdd70311fe80d6dda872a393ec4ff1931955399204e56f50236c5')
  })
})
