import { useEffect, useState } from 'react'
import { Failure } from '../../api/client'
import type { FieldError } from '../../api/types'

/** asErrors are all faults that the server found, or the one that kept it from looking. */
export const asErrors = (error: unknown): FieldError[] => (error instanceof Failure && error.fields.length > 0 ? error.fields
  : [{ field: '', message: error instanceof Error ? error.message : String(error) }])

type Checked = { valid: boolean; errors: FieldError[] }

/** useChecked asks the server what it thinks of what stands in a form, a moment after the last key. */
export function useChecked<Body, Found extends Checked>(body: Body, check: (body: Body) => Promise<Found>, touched: boolean): Found | Checked | undefined {
  const [result, setResult] = useState<Found | Checked>()
  useEffect(() => {
    if (!touched) return
    let late = false
    const timer = window.setTimeout(() => {
      check(body).then((r) => !late && setResult(r), (error: unknown) => {
        if (!late) setResult({ valid: false, errors: asErrors(error) })
      })
    }, 350)
    return () => { late = true; window.clearTimeout(timer) }
  }, [body, check, touched])
  return result
}
