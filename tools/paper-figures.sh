#!/bin/sh
# The figures of docs/paper.md, all by `attractor plot`, into docs/pictures/paper: sh tools/paper-figures.sh DATA FOLDER
# They are drawn from the orbits, models and line searches under results/. DATA has the files of the paper's public data set; FOLDER takes what is
# simulated and cut, and the numbers behind the figures. The command `attractor` of a release build must be in the path.
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
data=$(cd "$1" && pwd)
pictures=$root/docs/pictures/paper
mkdir -p "$pictures" "$2"
cd "$2"
for inputs in orbits models line-searches; do
    ln -sfn "$root/results/$inputs" "$inputs"
done

simulated() {
    name=$1
    shift
    [ -e "$name.npy" ] || attractor simulate "$@" --standardize --out "$name.npy"
}
# Rows of a recording as a table with titles of our own: NAME FILE DT FIRST LAST SED
cut_out() {
    [ -e "$1.csv" ] && return
    attractor convert "$2" "$1-rows.csv" --dt "$3" --from "row:$4" --to "row:$5"
    sed "1$6" "$1-rows.csv" > "$1.csv"
}
# Numbers behind a figure are written beside it; of these pictures they are not kept.
picture() {
    name=$1
    shift
    attractor plot "$@" --out "$name.svg" > "$name.txt"
    cp "$name.svg" "$pictures/$name.svg"
}
# Where an SVG is large; pngquant, if it is there, makes the PNG a third as large.
pixels() {
    name=$1
    shift
    attractor plot "$@" --out "$name.png" > "$name.txt"
    if command -v pngquant > /dev/null; then
        pngquant --nofs --force 128 --output "$pictures/$name.png" "$name.png"
    else
        cp "$name.png" "$pictures/$name.png"
    fi
}
# Files of all methods of a data set, in the order of the paper's table: DATA ENDING
of_all() {
    for row in gtf agtf stf dend-idtf reservoir lstm neural-ode lem; do
        echo "orbits/$1-$row$2"
    done
}
names='shPLRNN + GTF,shPLRNN + aGTF,shPLRNN + STF,dendPLRNN + id-TF,RC,LSTM-TBPTT,N-ODE,LEM'
three='shPLRNN + GTF,dendPLRNN + id-TF,N-ODE'
slow="orbits/lorenz96-multiscale-gtf.npy orbits/lorenz96-multiscale-dend-idtf.npy orbits/lorenz96-multiscale-neural-ode.npy"

simulated lorenz96_test lorenz96 --set n=20 --set forcing=16 --dt 0.01 --steps 100000 --seed 2
simulated lorenz96_multiscale_test lorenz96-multiscale --method fixed --dt 0.005 --steps 100000 --transient 500000 --seed 1
cut_out lorenz63 "$data/lorenz63_test.npy" 0.01 2501 4001 's/x1,x2,x3/x,y,z/'
cut_out lorenz96 lorenz96_test.npy 0.01 1 1001 's/^time/time/'
cut_out multiscale lorenz96_multiscale_test.npy 0.005 1 4001 's/^time/time [MTU]/'
cut_out ecg "$data/ECG_pecuzal_5d_test.npy" 0.0014285714285714286 501 4001 's/^\([^,]*\)/\1 [s]/'
cut_out eeg "$data/EEG_train.npy" 0.00625 501 1301 's/^time/time [s]/'
cut_out ecg1 "$data/ECG_pecuzal_5d_test.npy" 0.0014285714285714286 1 100001 's/^\([^,]*\)/\1 [s]/'

picture 1 jacobian-norms models/lorenz63-gtf.safetensors --data "$data/lorenz63_on0.05_train.npy" --labels Lorenz-63
picture 2 gtf-scheme
picture 3 reconstruction $(of_all eeg .npy) --labels "$names" --data eeg.csv --show 1 --steps 800
for set in lorenz63:Lorenz-63:lorenz63_on0.05_train ecg:ECG:ECG_pecuzal_5d_train eeg:EEG:EEG_train; do
    file=${set##*:} one=${set%%:*} label=${set#*:}
    picture "S1-$one" commutators "models/$one-gtf.safetensors" --data "$data/$file.npy" --labels "${label%%:*}"
    [ "$one" = eeg ] || picture "S2-$one" alpha-estimates "models/$one-gtf.safetensors" --data "$data/$file.npy" --labels "${label%%:*}"
done
picture S3 line-search line-searches/lorenz63 line-searches/lorenz96 line-searches/ecg line-searches/eeg --labels Lorenz-63,Lorenz-96,ECG,EEG
picture S4 reconstruction orbits/lorenz63-gtf.npy --labels 'shPLRNN + GTF' --data lorenz63.csv --steps 1500
picture S5 heat-map orbits/lorenz96-gtf.npy --labels 'shPLRNN + GTF' --data lorenz96.csv --steps 1000
picture S6 heat-map $slow --labels "$three" --data multiscale.csv --steps 4000
picture S7 forecast $slow --labels "$three" --data multiscale.csv --show 1 --steps 1000
picture S8 short-term $slow --labels "$three" --data multiscale.csv --steps 600
pixels S9 lyapunov-fit ecg1.csv --channels x1 --labels ECG --delay 59 --dims 4:8
pixels S10 loss-landscape models/lorenz63-gtf.safetensors --data "$data/lorenz63_on0.05_train.npy" --labels Lorenz-63
pixels S11 heat-map $(of_all eeg .npy) --labels "$names" --data eeg.csv --steps 480 --z-score --width 120
picture S12 reconstruction $(of_all ecg .npy) --labels "$names" --data ecg.csv --show 1 --steps 3500
picture S13 n-step $(of_all eeg -5-ahead.npy) --labels "$names" --data eeg.csv --show 1 --steps 200 --ahead 5
