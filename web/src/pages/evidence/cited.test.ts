import { describe, expect, it } from 'vitest'
import { cited } from './cited'

const marked = (claim: string, source: string) => cited(claim, source).filter((p) => p.marked).map((p) => p.text)

describe('cited', () => {
  it('marks what is quoted, across line breaks', () => {
    expect(marked('“The slope is negative.”', 'So: the slope\nis negative. And more.')).toEqual(['the slope\nis negative.'])
  })
  it('marks the phrases that an output holds', () => {
    expect(marked('By fit: Ea = 35.0942 kJ/mol, R² = 0.98.', 'Ea = 35.0942 kJ/mol\nR² = 0.98')).toEqual(['Ea = 35.0942 kJ/mol', 'R² = 0.98'])
  })
  it('marks figures if no phrase is there to the letter', () => {
    expect(marked('It comes to 35.09 in all', 'found 35.09')).toEqual(['35.09'])
  })
  it('keeps every character of the source', () => {
    const source = 'a (b) [c] * 12 + 13'
    expect(cited('12 and 13', source).map((p) => p.text).join('')).toBe(source)
  })
})
