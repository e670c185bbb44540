import { useEffect, useRef, type ReactNode } from 'react'

/** Dialog is the browser's own: it holds the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = place.current
    // React takes the dialog away before the browser could give the focus back.
    const before = document.activeElement
    if (dialog && !dialog.open) dialog.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={place} aria-labelledby="dialog-title" onCancel={onClose} onClick={(e) => e.target === place.current && onClose()}>
      <div className="stack">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
