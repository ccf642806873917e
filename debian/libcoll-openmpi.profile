# Has Open MPI look for components in its own folders, where libcoll's is. Debian 13's mpirun would have it look in
# PMIx's folder alone.
if [ -z "${OMPI_MCA_opal_mca_base_component_path-}" ]; then
    export OMPI_MCA_opal_mca_base_component_path=SYSTEM_DEFAULT:USER_DEFAULT
fi
