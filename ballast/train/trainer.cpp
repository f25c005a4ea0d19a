namespace ballast {}
