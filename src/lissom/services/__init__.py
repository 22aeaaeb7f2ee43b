"""Requests and their answers as typed data: one file for each verb."""
