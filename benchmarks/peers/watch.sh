#!/bin/sh
# Are our pinned commits still reachable upstream, and which fixes came after them?
#
#   watch.sh PINS FOLDER
#
# PINS has lines of "name address commit"; FOLDER keeps the clones. With ONLY_IF_MOVED=1 nothing is fetched
# where ls-remote says what it said last time.
set -eu
pins=$1
folder=$2
mkdir -p "$folder"

cut -d' ' -f1,2 "$pins" | sort -u | while read -r name url; do
    clone=$folder/$name.git
    if ! git ls-remote "$url" >"$folder/$name.refs.new"; then
        echo "$name: GONE ($url)"
        continue
    fi
    if [ ! -d "$clone" ]; then
        git clone -q --bare "$url" "$clone"
    elif [ -z "${ONLY_IF_MOVED:-}" ] || ! cmp -s "$folder/$name.refs.new" "$folder/$name.refs"; then
        git -C "$clone" fetch -q --prune "$url" '+refs/heads/*:refs/heads/*' '+refs/tags/*:refs/tags/*'
    fi
    mv "$folder/$name.refs.new" "$folder/$name.refs"

    grep "^$name " "$pins" | while read -r _ _ pin; do
        if ! git -C "$clone" merge-base --is-ancestor "$pin" HEAD; then
            echo "$name: $pin is UNREACHABLE"
            continue
        fi
        fixes=$(git -C "$clone" log --oneline -i --grep=fix "$pin..HEAD")
        if [ -n "$fixes" ]; then
            echo "$name: fixes after $pin:"
            echo "$fixes"
        fi
    done
done
