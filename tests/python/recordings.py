"""Writes the recordings under crates/attractor/tests/data with the libraries of their formats (h5py 3.16, pyarrow 26.0, wfdb 4.3), which
are too large to install for every test. The values follow from the formulas below, which the tests repeat.

    python recordings.py FOLDER
"""

import datetime
import os
import sys

import h5py
import netCDF4
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import wfdb

os.chdir(sys.argv[1])
t = np.arange(500)

table = pa.table({
    "time": pa.array(1.7e9 + 0.25 * t),
    "x [mV]": pa.array(np.sin(0.1 * t)),
    "y": pa.array(np.where(t % 7 == 3, None, t.astype("f4")), type=pa.float32(), from_pandas=True),
    "count": pa.array((t * t - 1000).astype("i4")),
    "flag": pa.array(t % 2 == 0),
    "subject": pa.array(np.where(t < 200, "left", "right")),
})
for name, options in [
    ("snappy", {}),
    ("gzip", {"compression": "gzip", "row_group_size": 128, "data_page_version": "2.0"}),
    ("lz4", {"compression": "lz4", "use_dictionary": False}),
    ("zstd", {"compression": "zstd"}),
]:
    pq.write_table(table, f"pyarrow-{name}.parquet", **options)

signal = np.stack([np.sin(0.05 * t), 0.5 * np.cos(0.03 * t)], axis=1)
for format in ["16", "212"]:
    wfdb.wrsamp(
        f"wfdb{format}", fs=360, units=["mV", "uV"], sig_name=["MLII", "V5"], p_signal=signal, fmt=[format, format],
        adc_gain=[200, 400], baseline=[100, -50],
    )

with h5py.File("h5py.h5", "w") as f:
    f["short"] = np.arange(5, dtype="i2")
    x = np.sin(np.arange(60.0)).reshape(30, 2).astype("f4")
    f.create_dataset("g/x", data=x, chunks=(16, 2), compression="gzip", shuffle=True)

# A month in the middle of each, but for one, as climate data have them; netCDF4 1.7.
months = [m for m in range(40) if m != 20]
n = np.arange(len(months))
with netCDF4.Dataset("netcdf4.nc", "w", format="NETCDF4") as f:
    f.createDimension("time", None)
    f.createDimension("lat", 2)
    f.createDimension("nv", 2)
    time = f.createVariable("time", "f8", ("time",))
    time.units, time.calendar, time.bounds = "days since 1950-01-01 00:00:00", "standard", "time_bnds"
    dates = [datetime.datetime(1950 + m // 12, m % 12 + 1, 16) for m in months]
    time[:] = netCDF4.date2num(dates, time.units)
    f.createVariable("time_bnds", "f8", ("time", "nv"))[:] = 0
    lat = f.createVariable("lat", "f4", ("lat",))
    lat.units, lat[:] = "degrees_north", [-5, 5]
    nino = f.createVariable("nino", "f4", ("time",), fill_value=np.float32(-999), zlib=True)
    nino.units, nino[:] = "K", np.ma.masked_array(np.sin(0.3 * n), n == 7)
    packed = f.createVariable("packed", "i2", ("time",), fill_value=np.int16(-32767))
    packed.set_auto_maskandscale(False)
    packed.units, packed.scale_factor, packed.add_offset = "hPa", 0.5, 10.0
    packed[:] = np.where(n == 3, -32767, n)
    f.createVariable("sst", "f8", ("time", "lat"))[:] = np.stack([n, -n], 1)
