import pickle

from videmus import errors


def test_an_error_says_where_what_and_what_to_do_next():
    error = errors.MediaError("the file is empty", where="a.mp4", next="copy it again")
    assert str(error) == "a.mp4: the file is empty (copy it again)"
    assert error.as_json() == {"error": {"what": "the file is empty", "where": "a.mp4", "next": "copy it again"}}


def test_an_error_survives_the_way_between_processes():
    error = pickle.loads(pickle.dumps(errors.UsageError("no", where="here", next="there")))
    assert (type(error), error.what, error.where, error.next) == (errors.UsageError, "no", "here", "there")


def test_every_exception_is_in_the_map_of_the_docstring():
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.VidemusError)]
    assert len(classes) > 10
    assert [c.__name__ for c in classes if c.__name__ not in (errors.__doc__ or "")] == []
