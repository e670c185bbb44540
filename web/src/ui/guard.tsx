import { Component, type ReactNode } from 'react'
import { unreachable } from '../api/client'

// What browsers and Vite say when a part of the page itself could not be loaded.
const notLoaded = /dynamically imported module|importing a module script|preload CSS/i

/** Guard keeps a defect of one page from taking the others with it. */
export class Guard extends Component<{ children: ReactNode }, { error?: Error }> {
  state: { error?: Error } = {}
  static getDerivedStateFromError = (error: Error) => ({ error })
  render() {
    const { error } = this.state
    if (!error) return this.props.children
    const offline = notLoaded.test(error.message)
    return (
      <div className="state" role="alert">
        <h1>{offline ? 'No connection' : 'This page broke'}</h1>
        <p>{offline ? unreachable : error.message}</p>
        {!offline && <p className="small">
          The quest itself is not touched. If the page breaks again, the command line shows the same: lyceum show, lyceum trace.</p>}
        <div className="row"><button className="button first" onClick={() => window.location.reload()}>Try again</button></div>
      </div>
    )
  }
}
