import type { ReactNode } from 'react'

export type Beside = { key: string; head: ReactNode }

/** Beside sets things beside each other, a column each: what differs between them is what one looks for. */
export function SideBySide({ things, rows, label = 'Side by side' }: { things: Beside[]; rows: [string, ReactNode[]][]; label?: string }) {
  return (
    <div className="card flush scroll-x side-by-side" tabIndex={0} role="region" aria-label={label}>
      <table><thead><tr><th scope="col"><span className="hidden-label">figure</span></th>
        {things.map((t) => <th key={t.key} scope="col">{t.head}</th>)}</tr></thead>
        <tbody>{rows.map(([name, cells]) => <tr key={name}><th scope="row">{name}</th>
          {cells.map((cell, i) => <td key={things[i]?.key ?? i}>{cell}</td>)}</tr>)}</tbody></table>
    </div>
  )
}
