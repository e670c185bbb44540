import { useId, type ReactElement, type ReactNode, cloneElement } from 'react'

type Control = ReactElement<{ id?: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }>

/** Field is a control with its name, a hint, and what the server found wrong with it. */
export function Field({ label, hint, wrong, children }: { label: string; hint?: ReactNode; wrong?: string[]; children: Control }) {
  const id = useId()
  const bad = wrong !== undefined && wrong.length > 0
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, { id, 'aria-describedby': `${id}-about`, 'aria-invalid': bad || undefined })}
      <div id={`${id}-about`}>
        {bad ? wrong.map((text) => <p className="wrong" key={text}>{text}</p>) : hint && <p className="hint">{hint}</p>}
      </div>
    </div>
  )
}
