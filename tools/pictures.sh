#!/bin/sh
# The pictures of README.md and docs/*.md, but for the README's moving one all by `attractor plot`, into docs/pictures: sh tools/pictures.sh FOLDER
# FOLDER keeps the runs, so that what is there is not trained again. The command `attractor` of a release build must be in the path.
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
pictures=$root/docs/pictures
results=$root/results
mkdir -p "$1"
cd "$1"

simulated() {
    name=$1
    shift
    [ -e "$name.csv" ] || attractor simulate lorenz63 --out "$name.csv" "$@"
}
trained() {
    name=$1
    data=$2
    shift 2
    [ -e "$name/model.safetensors" ] || attractor train "$data.csv" --out "$name" --quiet "$@"
}
# Numbers behind a figure are written beside it; of the pictures they are not kept.
picture() {
    name=$1
    shift
    attractor plot "$@" --out "$name.svg" > "$name.txt"
    cp "$name.svg" "$pictures/$name.svg"
}

simulated train --steps 30000 --standardize --seed 1
simulated test --steps 30000 --standardize --seed 2
simulated fine --steps 20000 --dt 0.002 --seed 1
simulated fine-test --steps 20000 --dt 0.002 --seed 2
trained run train --preset robust
trained sindy fine --model sindy --standardize off
trained lstm train --model lstm --propagation 100 --epochs 100
trained ode-rnn train --model ode-rnn --epochs 20
[ -e search/curve.csv ] || attractor line-search train.csv --test test.csv --out search --step 0.1 --seeds 3 --epochs 300 --lr 2e-3 --lr-end 1e-5

attractor generate run --steps 3000 --data train.csv --out orbit.csv
python3 "$root/tools/picture.py" train.csv orbit.csv "$pictures/lorenz63.svg"
picture reconstruction reconstruction run --data test.csv --from row:2500 --steps 1500 --labels model
picture exponents lyapunov run --data test.csv --system lorenz63 --labels model
picture spectra spectrum run --data test.csv --labels model
picture lyapunov-fit lyapunov-fit test.csv --channels x --labels 'x of Lorenz-63'
picture gtf-scheme gtf-scheme
picture jacobian-norms jacobian-norms run --data test.csv --labels 'trained model'
picture line-search line-search search --labels Lorenz-63
picture sindy forecast sindy --data fine-test.csv --from row:5000 --steps 7500 --labels SINDy
picture lstm reconstruction lstm --data test.csv --from row:2500 --steps 1500 --labels LSTM
picture ode-rnn n-step ode-rnn --data test.csv --from row:2500 --steps 700 --ahead 20 --labels ODE-RNN
picture scores scores "$results/lorenz63.jsonl"
picture comparison comparison "$results/lorenz63.jsonl" "$results/lorenz63-methods.jsonl" "$results/lorenz63-reservoir.jsonl" \
    "$results/lorenz63-sindy.jsonl" "$results/lorenz63-linear.jsonl"
