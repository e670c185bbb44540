[ "$(echo abc | sh tool.sh upper)" = ABC ]
