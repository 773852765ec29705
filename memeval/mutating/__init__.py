"""Mutation testing of a suite, part by part."""
