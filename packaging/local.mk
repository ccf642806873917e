# The files for packaging: Debian's, an RPM spec, a container's, and recipes for other package managers.
EXTRA_DIST += \
	.dockerignore \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/libcoll-bin.install \
	debian/libcoll-dev.install \
	debian/libcoll-doc.docs \
	debian/libcoll-doc.examples \
	debian/libcoll-f08-0.install \
	debian/libcoll-fortran-dev.install \
	debian/libcoll-openmpi.install \
	debian/libcoll-openmpi.lintian-overrides \
	debian/libcoll-openmpi.postinst \
	debian/libcoll-openmpi.profile \
	debian/libcoll0.install \
	debian/libcoll0.symbols \
	debian/not-installed \
	debian/python3-coll.install \
	debian/rules \
	debian/source/format \
	debian/tests/cmake \
	debian/tests/control \
	debian/tests/first-program \
	debian/tests/fortran \
	debian/tests/installed \
	debian/tests/python \
	packaging/Containerfile \
	packaging/guix.scm \
	packaging/libcoll.spec \
	$(recipes:=.in)

# recipes: fills the name and the checksum of the tarball in recipes, which the tarball itself can't have. URL is
# where the tarball is published; by default it's the file in this build.
recipes = packaging/conda/recipe.yaml packaging/easybuild/libcoll.eb packaging/spack/package.py
tarball = $(PACKAGE)-$(VERSION).tar.gz
URL = file://$(abs_builddir)/$(tarball)
.PHONY: recipes
recipes:
	@[ -f $(tarball) ] || { echo "recipes: no $(tarball) here; run make dist first" >&2; exit 1; }
	@case '$(URL)' in */$(tarball)) ;; *) \
		echo "recipes: URL=$(URL): must end in /$(tarball)" >&2; exit 1 ;; esac
	@for recipe in $(recipes); do \
		mkdir -p `dirname recipes/$${recipe#packaging/}` && \
		sed -e 's|[@]VERSION@|$(VERSION)|g' -e 's|[@]URL@|$(URL)|g' -e 's|[@]FOLDER@|$(URL:/$(tarball)=)|g' \
			-e "s|[@]SHA256@|`sha256sum $(tarball) | cut -c 1-64`|g" \
			$(srcdir)/$$recipe.in >recipes/$${recipe#packaging/} && echo "recipes/$${recipe#packaging/}" || exit 1; \
	done
CLEANFILES += $(recipes:packaging/%=recipes/%)
